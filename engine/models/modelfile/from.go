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

// origin is the meaning of a FROM line. Exactly one field is set.
type origin struct {
	url  string     // base URL of a remote server
	path string     // an existing file or directory
	name store.Name // a model in the store or a registry
}

// resolve resolves a FROM line. An existing file, or a directory with weights,
// takes precedence over a model of that name, as in Ollama.
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
		return origin{}, i.errorf("FROM %s: no such file, and not a model name: %v", shown(i.Value), err)
	}
	return origin{name: name}, nil
}

// isPath reports whether a value can only be a path. On hf.co, a tag can also be
// a file name.
func isPath(value string) bool {
	starts := []string{"./", "../", "~", `.\`, `..\`}
	isFile := strings.HasSuffix(strings.ToLower(value), ".gguf") && !strings.Contains(value, ":")
	return isFile || filepath.IsAbs(value) || value == "." || value == ".." ||
		slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(value, s) })
}

// expand returns an absolute path.
func (src Source) expand(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path contains a NUL byte")
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		if rest != "" && !os.IsPathSeparator(rest[0]) || src.Home == "" {
			return "", errors.New("only ~/ is supported; write the whole path")
		}
		return filepath.Join(src.Home, rest), nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(src.Dir, path)
	}
	return filepath.Abs(path)
}

// reason removes the path from an error whose text has it already.
func reason(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// hubs maps web sites with models to the host of their model names.
var hubs = map[string]string{"huggingface.co": "hf.co", "hf.co": "hf.co", "www.huggingface.co": "hf.co"}

// remoteURL validates and normalizes the URL of a remote server. It refuses a
// user and a query, because a Modelfile must not contain keys.
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
		return "", fmt.Errorf("the URL contains a user or a key, which would be pushed with the model; remove it, and run: diglot login %s", host)
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", fmt.Errorf("the URL contains ? or #; write only the base URL, such as %s://%s/v1; to store a key, run: diglot login %[2]s", u.Scheme, host)
	case slices.Contains(strings.Split(u.Path, "/"), ".."):
		return "", fmt.Errorf("%s contains ..; write the base URL, such as https://host/v1", shown(text))
	}
	if hub, ok := hubs[host]; ok {
		return "", fmt.Errorf("%s is a web page; to pull the model, use FROM %s%s", shown(text), hub, u.Path)
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if path == "" {
		// Ollama stores only the host.
		path = "/v1"
	}
	return u.Scheme + "://" + host + path, nil
}
