package store

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// Options say which store to open.
type Options struct {
	Dir      string       // the folder with manifests and blobs in it; it need not exist
	ReadOnly bool         // refuse every verb that writes
	Log      *slog.Logger // gets what is skipped and what is collected; may be nil
}

// Store is a folder of models. Its methods may be called from any goroutine,
// and any number of processes may work on one folder.
type Store struct {
	dir      string
	readOnly bool
	log      *slog.Logger
	disk     disk
	memo     memo
}

// Open opens a store. The folder is made by the first verb that writes.
func Open(o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("no folder is given for the model store")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the model store %s: %w", o.Dir, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("the model store %s is a file, not a folder", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the model store: %w", err)
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Store{dir: dir, readOnly: o.ReadOnly, log: log}, nil
}

// Dir is the folder, as an absolute path.
func (s *Store) Dir() string { return s.dir }

func (s *Store) manifests() string { return filepath.Join(s.dir, "manifests") }
func (s *Store) blobs() string     { return filepath.Join(s.dir, "blobs") }

// manifestPath is where the manifest of a name is. The name must have been
// checked.
func (s *Store) manifestPath(n Name) string { return filepath.Join(s.manifests(), n.path()) }

// work is the folder for what is not finished and ends in target: on the same
// file system as target, since files are renamed from one to the other.
func (s *Store) work(target string) string {
	if sameDevice(s.dir, target) {
		return filepath.Join(s.dir, workName)
	}
	return filepath.Join(target, workName)
}

// workName begins with a dot, so that Ollama does not take it for a host.
const workName = ".diglot"
