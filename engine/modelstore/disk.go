package modelstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// disk is how a store changes what is on disk: every step that a crash could
// come before or after goes through it.
type disk struct {
	step func(what, path string) // called before each step; nil outside tests
}

func (d disk) before(what, path string) {
	if d.step != nil {
		d.step(what, path)
	}
}

// file is a file that is being written.
type file struct {
	*os.File
	disk disk
}

// create opens a new file under a random name.
func (d disk) create(dir, pattern string) (*file, error) {
	d.before("create", dir)
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

// open opens a file for reading and writing, and makes it if need be.
func (d disk) open(path string) (*file, error) {
	d.before("open", path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &file{f, d}, nil
}

// Write writes in two steps where steps are watched: the system may be
// stopped in the middle of one.
func (f *file) Write(p []byte) (int, error) {
	if f.disk.step == nil {
		return f.File.Write(p)
	}
	half := len(p) / 2
	f.disk.before("write", f.Name())
	n, err := f.File.Write(p[:half])
	if err != nil {
		return n, err
	}
	f.disk.before("write", f.Name())
	m, err := f.File.Write(p[half:])
	return n + m, err
}

func (f *file) WriteAt(p []byte, offset int64) (int, error) {
	f.disk.before("write", f.Name())
	return f.File.WriteAt(p, offset)
}

// Truncate makes the file so long, with a hole at its end.
func (f *file) Truncate(size int64) error {
	f.disk.before("truncate", f.Name())
	return f.File.Truncate(size)
}

func (f *file) Sync() error {
	f.disk.before("sync", f.Name())
	return f.File.Sync()
}

// discard closes and removes a file that is of no use any more.
func (f *file) discard() {
	f.Close()
	os.Remove(f.Name())
}

// settle brings a written file to its final name, so that it survives the
// loss of power: content first, then the name.
func (d disk) settle(f *file, path string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil { // CreateTemp makes it the user's alone; Ollama may run as another
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	d.before("rename", path)
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(path))
}

// syncDir brings the names in a folder to the disk.
func (d disk) syncDir(dir string) error {
	if runtime.GOOS == "windows" { // it has no such thing
		return nil
	}
	d.before("sync", dir)
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// mkdir makes a folder and its parents, each of them brought to the disk.
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
	d.before("mkdir", dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return nil // another process was faster
		}
		return err
	}
	return d.syncDir(parent)
}

// remove removes a file or an empty folder; one that is gone is no error.
func (d disk) remove(path string) error {
	d.before("remove", path)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// isNotDir says that a path goes on below a file.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
