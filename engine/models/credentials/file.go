package credentials

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gofrs/flock"

	"github.com/diglot/diglot/internal/atomicfile"
	"github.com/diglot/diglot/internal/plainjson"
)

const (
	version = 1
	private = 0o600
	maxFile = 1 << 20 // bytes; a file of keys is a few lines
)

// File is the credentials file of one user. It is read at every use, so that a
// running server sees changes. It is safe for concurrent use.
type File struct{ path string }

// Open returns the file at path, which need not exist. A file that others may
// read is refused, because they may know its keys.
func Open(path string) (*File, error) {
	f := &File{path: path}
	_, err := f.read()
	return f, err
}

// document is the file as JSON.
type document struct {
	Version int                `json:"version"`
	Hosts   map[string]written `json:"hosts"`
}

type written struct {
	Key      string `json:"key,omitempty"`
	Variable string `json:"variable,omitempty"`
}

// Allow allows a host without a key, and deletes an existing key.
func (f *File) Allow(host string) error {
	return f.put(host, written{})
}

// Set allows a host with a key.
func (f *File) Set(host, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return f.put(host, written{Key: key})
}

// SetEnv allows a host with the key that environment variable name has when a
// request is sent.
func (f *File) SetEnv(host, name string) error {
	if err := checkVariable(name); err != nil {
		return err
	}
	return f.put(host, written{Variable: name})
}

func (f *File) put(host string, w written) error {
	host, err := Host(host)
	if err != nil {
		return err
	}
	return f.change(func(hosts map[string]written) { hosts[host] = w })
}

// Remove disallows a host and deletes its key. An unknown host is an error.
func (f *File) Remove(host string) error {
	host, err := Host(host)
	if err != nil {
		return err
	}
	found := false
	err = f.change(func(hosts map[string]written) {
		_, found = hosts[host]
		delete(hosts, host)
	})
	if err == nil && !found {
		return fmt.Errorf("%s is not an allowed host", Short(host))
	}
	return err
}

// Lookup returns the entry of a host, and whether the host is allowed.
func (f *File) Lookup(host string) (Entry, bool, error) {
	host, err := Host(host)
	if err != nil {
		return Entry{}, false, err
	}
	hosts, err := f.read()
	if err != nil {
		return Entry{}, false, err
	}
	w, ok := hosts[host]
	return Entry{Variable: w.Variable, key: w.Key}, ok, nil
}

// Hosts returns the allowed hosts, sorted.
func (f *File) Hosts() ([]string, error) {
	hosts, err := f.read()
	return slices.Sorted(maps.Keys(hosts)), err
}

// read returns the hosts of the file, which may be missing.
func (f *File) read() (map[string]written, error) {
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]written{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if err := f.checkMode(in); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is not a credentials file: it is larger than %d bytes", f.path, maxFile)
	}
	return f.parse(text)
}

func (f *File) checkMode(in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 { // the mode means nothing there
		return fmt.Errorf("others may read or write %s, which contains keys: chmod 600 %s", f.path, f.path)
	}
	return nil
}

// parse decodes the file strictly. Its errors must not quote keys.
func (f *File) parse(text []byte) (map[string]written, error) {
	var d document
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&d)
	if _, more := decoder.Token(); err != nil || more != io.EOF {
		return nil, fmt.Errorf("%s is not a valid credentials file: correct it, or remove it and log in again", f.path)
	}
	if d.Version != version {
		return nil, fmt.Errorf("%s has version %d; this program supports version %d", f.path, d.Version, version)
	}
	if d.Hosts == nil {
		d.Hosts = map[string]written{}
	}
	for host, w := range d.Hosts {
		if _, _, err := net.SplitHostPort(host); err != nil {
			return nil, fmt.Errorf("%s: the host %q has no port", f.path, host)
		}
		if known, err := Host(host); err != nil || known != host { // Lookup would never find it
			return nil, fmt.Errorf("%s: the host %q is not HOST:PORT in lower case", f.path, host)
		}
		if w.Key != "" && w.Variable != "" {
			return nil, fmt.Errorf("%s: %s has both a key and a variable", f.path, host)
		}
		if w.Key != "" && checkKey(w.Key) != nil {
			return nil, fmt.Errorf("%s: the key of %s has an invalid character", f.path, host)
		}
		if w.Variable != "" && checkVariable(w.Variable) != nil {
			return nil, fmt.Errorf("%s: the variable of %s is not a valid name", f.path, host)
		}
	}
	return d.Hosts, nil
}

// change edits the file under a lock.
func (f *File) change(edit func(map[string]written)) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	lock := flock.New(f.path+".lock", flock.SetPermissions(private))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", f.path, err)
	}
	defer lock.Unlock()
	if err := atomicfile.Sweep(f.path); err != nil {
		return err
	}
	hosts, err := f.read()
	if err != nil {
		return err
	}
	edit(hosts)
	text, err := plainjson.Marshal(document{version, hosts}, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, private, bytes.NewReader(append(text, '\n')))
}
