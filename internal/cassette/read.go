package cassette

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits of what is read.
const (
	MaxFile  = 16 << 20  // bytes of one cassette
	MaxFiles = 256 << 20 // bytes of all that one call reads
	maxCount = 20_000    // cassettes of one call
)

// Read reads a cassette file, or all cassettes below a folder in order of their
// names.
func Read(name string) ([]Cassette, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return ReadFS(os.DirFS(name), ".")
	}
	r := newReader(os.DirFS(filepath.Dir(name)))
	err = r.read(filepath.Base(name))
	return r.all, err
}

// ReadFS reads all cassettes below the roots: every file that ends in ".yaml",
// apart from hidden ones.
func ReadFS(files fs.FS, roots ...string) ([]Cassette, error) {
	r := newReader(files)
	err := r.walk(roots)
	return r.all, err
}

// reader reads cassettes until a limit is reached.
type reader struct {
	files     fs.FS
	one, left int64 // bytes of one cassette, and those that may still be read
	count     int   // cassettes that may still be read
	all       []Cassette
}

func newReader(files fs.FS) *reader {
	return &reader{files: files, one: MaxFile, left: MaxFiles, count: maxCount}
}

func (r *reader) walk(roots []string) error {
	for _, root := range roots {
		err := fs.WalkDir(r.files, root, func(name string, entry fs.DirEntry, err error) error {
			hidden := strings.HasPrefix(entry.Name(), ".") && name != root
			switch {
			case err != nil:
				return err
			case hidden && entry.IsDir():
				return fs.SkipDir
			case hidden, entry.IsDir(), path.Ext(name) != extension:
				return nil
			}
			return r.read(name)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) read(name string) error {
	text, err := r.text(name)
	if err != nil {
		return err
	}
	c := Cassette{Name: strings.TrimSuffix(name, path.Ext(name))}
	if c.Interactions, err = Parse(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.all = append(r.all, c)
	return nil
}

func (r *reader) text(name string) ([]byte, error) {
	// Before it is opened: a named pipe would wait for a writer.
	info, err := fs.Stat(r.files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := r.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, r.one+1))
	if err != nil {
		return nil, err
	}
	r.left -= int64(len(text))
	r.count--
	switch {
	case int64(len(text)) > r.one:
		return nil, fmt.Errorf("%s: the cassette is larger than %d bytes", name, r.one)
	case r.left < 0:
		return nil, fmt.Errorf("%s: the cassettes together are larger than allowed (%d bytes)", name, int64(MaxFiles))
	case r.count < 0:
		return nil, fmt.Errorf("%s: more than %d cassettes", name, maxCount)
	}
	return text, nil
}
