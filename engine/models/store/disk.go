package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/internal/atomicfile"
)

// disk makes all changes to the file system, so that tests can simulate a crash
// before each.
type disk struct {
	step func(what, path string) error // called before each change, may prevent it; nil outside tests
}

func (d disk) before(what, path string) error {
	if d.step == nil {
		return nil
	}
	return d.step(what, path)
}

// file is a file that is being written.
type file struct {
	*os.File
	disk disk
}

// create creates a file with a random name.
func (d disk) create(dir, pattern string) (*file, error) {
	if err := d.before("create", dir); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

// open opens a file for reading and writing, and creates it if missing.
func (d disk) open(path string) (*file, error) {
	if err := d.before("open", path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

// Write writes in two steps in tests, to simulate a crash in the middle.
func (f *file) Write(p []byte) (int, error) {
	if f.disk.step == nil {
		return f.File.Write(p)
	}
	n, half := 0, len(p)/2
	for _, part := range [][]byte{p[:half], p[half:]} {
		if err := f.disk.before("write", f.Name()); err != nil {
			return n, err
		}
		m, err := f.File.Write(part)
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.disk.before("write", f.Name()); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, offset)
}

func (f *file) Truncate(size int64) error {
	if err := f.disk.before("truncate", f.Name()); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *file) Sync() error {
	if err := f.disk.before("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

// discard closes and removes a file.
func (f *file) discard() {
	f.Close()
	os.Remove(f.Name())
}

// settle syncs a file and renames it to its final name. Others may read it,
// because Ollama may run as another user.
func (d disk) settle(f *file, path string) error {
	return atomicfile.Settle(f.File, path, 0o644, d.before)
}

// syncDir makes renames in a directory durable.
func (d disk) syncDir(dir string) error { return atomicfile.SyncFolder(dir, d.before) }

// mkdir creates a directory and its parents, and syncs each.
func (d disk) mkdir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	if err := d.mkdir(parent); err != nil {
		return err
	}
	if err := d.before("mkdir", dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return nil // created by another process
		}
		return err
	}
	return d.syncDir(parent)
}

// remove removes a file or an empty directory. A missing one is no error.
func (d disk) remove(path string) error {
	if err := d.before("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
