package credentials

import (
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/hostname"
)

// Key returns the key for requests to a URL, which is empty where its host
// needs none. env looks up an environment variable, as [os.LookupEnv] does.
// A host that the user has not allowed is refused, and so is a key that would
// go over a network unencrypted: errors are of type [engine.Error], with a
// message that tells the user what to do.
func (f *File) Key(url string, env func(string) (string, bool)) (string, error) {
	host, err := Host(url)
	if err != nil {
		return "", refuse(engine.CodeInternal, "The address at which the model is served is not valid.").Because(err)
	}
	entry, ok, err := f.Lookup(url)
	if err != nil {
		return "", refuse(engine.CodeInternal, "The file of the hosts that this server trusts cannot be read.").Because(err)
	}
	if !ok {
		return "", refuse(engine.CodeForbidden,
			"The model is served by %s, which this server has not been allowed to talk to: diglot login %s allows it.", Short(host), Short(host))
	}
	key, err := entry.secret(host, env)
	if err != nil {
		return "", refuse(engine.CodeInternal, "The key for %s, which serves the model, is not to be had.", Short(host)).Because(err)
	}
	if key != "" && strings.HasPrefix(strings.ToLower(url), "http://") && !hostname.Loopback(host) {
		return "", refuse(engine.CodeForbidden,
			"The model is served by %s over http://, and a key is sent over https:// only.", host)
	}
	return key, nil
}

// refuse makes an error that stays until the user has done something.
func refuse(code engine.Code, format string, args ...any) *engine.Error {
	err := engine.Errorf(code, format, args...)
	err.NoRetry = true
	return err
}
