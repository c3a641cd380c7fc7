package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// Options configure a store.
type Options struct {
	Dir      string       // contains manifests and blobs; need not exist
	ReadOnly bool         // make every method that writes fail
	Log      *slog.Logger // may be nil
}

// Store is a directory of models. It may be used by several goroutines and by
// several processes at the same time.
type Store struct {
	dir      string
	readOnly bool
	log      *slog.Logger
	disk     disk
	memo     memo
}

// Open opens a store. The first write creates its directory.
func Open(o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("the directory of the model store is not set")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the model store %s: %w", o.Dir, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("the model store %s is a file, not a directory", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the model store: %w", err)
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Store{dir: dir, readOnly: o.ReadOnly, log: log}, nil
}

// Dir is the absolute path of the store.
func (s *Store) Dir() string { return s.dir }

func (s *Store) manifests() string { return filepath.Join(s.dir, "manifests") }
func (s *Store) blobs() string     { return filepath.Join(s.dir, "blobs") }

// manifestPath is the path of a manifest. The name must be checked.
func (s *Store) manifestPath(n Name) string { return filepath.Join(s.manifests(), n.path()) }

// work is the directory for unfinished files of target. Both must be on one
// file system, because files are renamed from work to target.
func (s *Store) work(target string) string {
	if sameDevice(s.dir, target) {
		return filepath.Join(s.dir, workName)
	}
	return filepath.Join(target, workName)
}

// workName starts with a dot, so that Ollama does not take it for a host.
const workName = ".diglot"
