// Package atomicfile replaces files in one step: whoever reads one meanwhile, or
// after a crash or a loss of power, sees the old content or the new one.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Write replaces the file at path. Where the content cannot be written, the file
// stays as it was.
func Write(path string, mode fs.FileMode, content io.WriterTo) error {
	f, err := os.CreateTemp(filepath.Dir(path), temporary(path)+"*") // for the user alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	if _, err := content.WriteTo(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return Settle(f, path, mode, Unwatched)
}

// temporary begins the names of files that become the one at path.
func temporary(path string) string { return "." + filepath.Base(path) + "-" }

// Sweep removes what a process left that ended while it wrote the file at path.
func Sweep(path string) error {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary(path)) {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// Watch is called before each step that a crash could come before or after, and
// may forbid it: "sync" and "rename".
type Watch func(step, path string) error

// Unwatched forbids nothing.
func Unwatched(string, string) error { return nil }

// Settle brings a written file to its final name, in the same file system:
// content first, then the name. The file is closed, whatever happens.
func Settle(f *os.File, path string, mode fs.FileMode, before Watch) error {
	err := f.Chmod(mode)
	if err == nil {
		err = before("sync", f.Name())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return Rename(f.Name(), path, before)
}

// Rename gives a file that is on disk its final name.
func Rename(from, path string, before Watch) error {
	if err := before("rename", from); err != nil {
		return err
	}
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path), before)
}

// SyncFolder brings the names in a folder to the disk.
func SyncFolder(path string, before Watch) error {
	if runtime.GOOS == "windows" { // it has no such thing
		return nil
	}
	if err := before("sync", path); err != nil {
		return err
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
