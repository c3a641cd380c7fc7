package modelfile

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/models/store"
	"github.com/diglot/diglot/internal/hostname"
)

// origin is what a FROM line means: exactly one of its fields is set.
type origin struct {
	url  string     // the base of another server's interface
	path string     // a file or a folder that is there
	name store.Name // a model in the store, or in a registry
}

// resolve finds out what a FROM line means. A file that is there, or a folder
// with weights, goes before a model of that name, as in Ollama.
func (src Source) resolve(i Instruction) (origin, error) {
	if strings.Contains(i.Value, "://") {
		address, err := remoteURL(i.Value)
		if err != nil {
			return origin{}, i.errorf("FROM: %v", err)
		}
		return origin{url: address}, nil
	}
	path, err := src.expand(i.Value)
	if err != nil {
		return origin{}, i.errorf("%s %s: %v", i.Name, shown(i.Value), err)
	}
	info, err := os.Stat(path)
	if err == nil && (isPath(i.Value) || !info.IsDir() || holdsWeights(path)) {
		return origin{path: path}, nil
	}
	if isPath(i.Value) {
		return origin{}, i.errorf("%s %s: %v", i.Name, shown(i.Value), reason(err))
	}
	name, err := store.ParseName(i.Value)
	if err != nil {
		return origin{}, i.errorf("FROM %s: there is no such file, and it is not a model's name: %v", shown(i.Value), err)
	}
	return origin{name: name}, nil
}

// isPath reports whether a value can be nothing but a path. A tag may be the name
// of a file too, on hf.co.
func isPath(value string) bool {
	starts := []string{"./", "../", "~", `.\`, `..\`}
	isFile := strings.HasSuffix(strings.ToLower(value), ".gguf") && !strings.Contains(value, ":")
	return isFile || filepath.IsAbs(value) || value == "." || value == ".." ||
		slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(value, s) })
}

// expand makes an absolute path.
func (src Source) expand(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path has no NUL in it")
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		if rest != "" && !os.IsPathSeparator(rest[0]) || src.Home == "" {
			return "", errors.New("only ~/ is known, the home folder of who runs the program; write the whole path")
		}
		return filepath.Join(src.Home, rest), nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(src.Dir, path)
	}
	return filepath.Abs(path)
}

// reason leaves the path out: the sentence has it.
func reason(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// hubs are web sites where people find models, and what a name of a model there
// begins with.
var hubs = map[string]string{"huggingface.co": "hf.co", "hf.co": "hf.co", "www.huggingface.co": "hf.co"}

// remoteURL checks the address of another server. It holds no key: neither as
// a password nor in a query.
func remoteURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%s is not a URL such as https://host/v1", shown(text))
	}
	host := strings.ToLower(u.Host)
	switch {
	case u.Scheme != "http" && u.Scheme != "https", host == "", u.Opaque != "", !hostname.InURL(u):
		return "", fmt.Errorf("%s is not a URL such as https://host/v1", shown(u.Redacted()))
	case u.User != nil:
		return "", fmt.Errorf("the URL holds a user or a key, and is passed on with the model; leave it out, and run: diglot login %s", host)
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", fmt.Errorf("the URL ends in ? or #; write the base of the interface alone, such as %s://%s/v1; a key is told by: diglot login %[2]s", u.Scheme, host)
	case slices.Contains(strings.Split(u.Path, "/"), ".."):
		return "", fmt.Errorf("%s has .. in it; write the base of the interface, such as https://host/v1", shown(text))
	}
	if hub, ok := hubs[host]; ok {
		return "", fmt.Errorf("%s is a page for people; the model is pulled by FROM %s%s", shown(text), hub, u.Path)
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if path == "" {
		// Ollama notes the host alone, and its interface is there.
		path = "/v1"
	}
	return u.Scheme + "://" + host + path, nil
}
