// Package atomicfile replaces files atomically: a reader sees the old or the new
// content, also after a crash or a power failure.
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

// Write replaces the file at path. After an error, the file is unchanged.
func Write(path string, mode fs.FileMode, content io.WriterTo) error {
	f, err := os.CreateTemp(filepath.Dir(path), temporary(path)+"*") // for the user alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails if it was renamed
	if _, err := content.WriteTo(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return Settle(f, path, mode, Unwatched)
}

// temporary is the prefix of temporary files for path.
func temporary(path string) string { return "." + filepath.Base(path) + "-" }

// Sweep removes temporary files that a dead process left.
func Sweep(path string) error {
	directory := filepath.Dir(path)
	entries, err := os.ReadDir(directory)
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), temporary(path))
		if ok && number != "" && strings.Trim(number, "0123456789") == "" { // else it is of a longer name
			err = errors.Join(err, os.Remove(filepath.Join(directory, e.Name())))
		}
	}
	return err
}

// Watch is called before each step, "sync" or "rename", and may prevent it. Tests
// use it to simulate a crash.
type Watch func(step, path string) error

// Unwatched prevents nothing.
func Unwatched(string, string) error { return nil }

// Settle syncs and closes a file and renames it to its final name, on the same file
// system. It closes the file even after an error.
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

// Rename renames a synced file durably.
func Rename(from, path string, before Watch) error {
	if err := before("rename", from); err != nil {
		return err
	}
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path), before)
}

// SyncFolder makes renames in a directory durable.
func SyncFolder(path string, before Watch) error {
	if runtime.GOOS == "windows" { // directories cannot be synced
		return nil
	}
	if err := before("sync", path); err != nil {
		return err
	}
	directory, err := os.Open(path)
	if err != nil {
		return err
	}
	defer directory.Close()
	return directory.Sync()
}
