package handlers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// Key is an API key, and the name of its user in the log.
type Key struct{ Name, Key string }

// Keys is the set of accepted API keys, safe for concurrent use. Nil Keys accept any key.
type Keys struct {
	fixed []namedSum
	all   atomic.Pointer[[]namedSum] // with those of a file
}

// namedSum is the hash of a key, with its name.
type namedSum struct {
	name string
	sum  [sha256.Size]byte
}

// NewKeys returns a set of fixed keys.
func NewKeys(keys ...Key) *Keys {
	k := &Keys{fixed: sums(keys)}
	k.all.Store(&k.fixed)
	return k
}

func sums(keys []Key) []namedSum {
	var all []namedSum
	for _, key := range keys {
		all = append(all, namedSum{key.Name, sha256.Sum256([]byte(key.Key))})
	}
	return all
}

// find returns the name of a key. It compares hashes in constant time, so that timing
// reveals nothing.
func (k *Keys) find(key string) (name string, ok bool) {
	sum := sha256.Sum256([]byte(key))
	for _, known := range *k.all.Load() {
		if subtle.ConstantTimeCompare(sum[:], known.sum[:]) == 1 && key != "" {
			name, ok = known.name, true
		}
	}
	return name, ok
}

// KeyFile is a file with one NAME:KEY per line. Blank lines and lines that begin with # are
// skipped.
type KeyFile struct {
	keys *Keys
	path string
	log  *slog.Logger
	last []byte // last content, valid or not
}

// AddFile adds the keys of a file to the fixed ones.
func (k *Keys) AddFile(path string, log *slog.Logger) (*KeyFile, error) {
	f := &KeyFile{keys: k, path: path, log: log}
	text, err := f.read()
	if err != nil {
		return nil, err
	}
	if err := f.take(text); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
		log.Warn("every user of this machine can read the API keys; take that away with: chmod o-r "+path, "file", path)
	}
	return f, nil
}

// ReloadEvery is how often a key file is checked for changes.
const ReloadEvery = 2 * time.Second

// Watch reloads the file when it changes, until ctx ends. An invalid or missing file
// changes nothing and is logged once.
func (f *KeyFile) Watch(ctx context.Context) {
	look := time.NewTicker(ReloadEvery)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			f.reload()
		case <-ctx.Done():
			return
		}
	}
}

func (f *KeyFile) reload() {
	text, err := f.read()
	if err != nil {
		text = []byte(err.Error()) // log it once
	}
	if bytes.Equal(text, f.last) {
		return
	}
	if err == nil {
		err = f.take(text)
	}
	f.last = text
	if err != nil {
		f.log.Error("the API keys stay what they were", "reason", err)
		return
	}
	f.log.Info("the API keys were read anew", "file", f.path, "keys", len(*f.keys.all.Load()))
}

// maxKeyFile limits the size of a key file.
const maxKeyFile = 1 << 20

func (f *KeyFile) read() ([]byte, error) {
	info, err := os.Stat(f.path)
	if err == nil && (info.Size() > maxKeyFile || !info.Mode().IsRegular()) {
		err = fmt.Errorf("%s is no file of at most %d bytes", f.path, maxKeyFile)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(f.path)
}

// take replaces the keys of the file.
func (f *KeyFile) take(text []byte) error {
	keys, err := parseKeys(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.last = text
	all := append(f.keys.fixed[:len(f.keys.fixed):len(f.keys.fixed)], sums(keys)...)
	f.keys.all.Store(&all)
	return nil
}

var keyLine = regexp.MustCompile(`^([A-Za-z0-9][\w.@-]{0,63})\s*:\s*(\S{1,1000})$`)

// parseKeys quotes no line in errors, since it may hold a key.
func parseKeys(text string) ([]Key, error) {
	var keys []Key
	seen := map[string]bool{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		m := keyLine.FindStringSubmatch(line)
		switch {
		case m == nil:
			return nil, fmt.Errorf("line %d is not NAME: KEY, with a key of at most 1000 letters and no blank", number)
		case seen[m[1]] || seen["key "+m[2]]:
			return nil, fmt.Errorf("line %d has the name or the key of a line before", number)
		}
		seen[m[1]], seen["key "+m[2]] = true, true
		keys = append(keys, Key{m[1], m[2]})
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it")
	}
	return keys, nil
}
