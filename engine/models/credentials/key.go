package credentials

import (
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/hostname"
)

// Key returns the key for requests to a URL, or "" if its host needs none. env
// is like [os.LookupEnv]. Key refuses a host that is not allowed, and a key over
// unencrypted HTTP. Errors are of type [engine.Error] and tell the user what to
// do.
func (f *File) Key(url string, env func(string) (string, bool)) (string, error) {
	host, err := Host(url)
	if err != nil {
		return "", refuse(engine.CodeInternal, "The URL of the remote model is not valid.").Because(err)
	}
	entry, ok, err := f.Lookup(url)
	if err != nil {
		return "", refuse(engine.CodeInternal, "The credentials file of this server cannot be read.").Because(err)
	}
	if !ok {
		return "", refuse(engine.CodeForbidden,
			"The model runs on %s, which is not allowed on this server. To allow it: diglot login %s", Short(host), Short(host))
	}
	key, err := entry.secret(host, env)
	if err != nil {
		return "", refuse(engine.CodeInternal, "The API key for %s, which runs the model, is not available.", Short(host)).Because(err)
	}
	if key != "" && strings.HasPrefix(strings.ToLower(url), "http://") && !hostname.Loopback(host) {
		return "", refuse(engine.CodeForbidden,
			"The model runs on %s over http://, but API keys are sent only over https://.", host)
	}
	return key, nil
}

// refuse makes an error that the client should not retry.
func refuse(code engine.Code, format string, args ...any) *engine.Error {
	err := engine.Errorf(code, format, args...)
	err.NoRetry = true
	return err
}
