package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxDepth is more than the folders of any name: its namespace has at most
// maxSpace characters.
const maxDepth = maxSpace/2 + 4

// walk visits every file below the folder of manifests, by its path from
// there. visit gets an error with what cannot be read. Links to folders are
// followed, as a user may keep some models elsewhere.
func (s *Store) walk(ctx context.Context, visit func(path string, err error) error) error {
	if _, err := os.Stat(s.manifests()); errors.Is(err, fs.ErrNotExist) {
		return nil // a store that has nothing yet
	} else if err != nil {
		return fmt.Errorf("list the models: %w", err)
	}
	return s.walkDir(ctx, "", 0, visit)
}

func (s *Store) walkDir(ctx context.Context, dir string, depth int, visit func(string, error) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(s.manifests(), dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed by another process
	}
	if err != nil {
		return visit(dir, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") { // ours, or one of those that file managers leave
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case !s.isFolder(path, e):
			err = visit(path, nil)
		case depth < maxDepth && !s.isCircle(path, e):
			err = s.walkDir(ctx, path, depth+1, visit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) isFolder(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(s.manifests(), path))
	return err == nil && info.IsDir()
}

// isCircle reports whether a link leads to a folder that it is in. Two of them in
// one folder would be followed in more ways than there is time for.
func (s *Store) isCircle(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := os.Stat(filepath.Join(s.manifests(), path))
	for err == nil && path != "." {
		path = filepath.Dir(path)
		var above fs.FileInfo
		if above, err = os.Stat(filepath.Join(s.manifests(), path)); err == nil && os.SameFile(target, above) {
			return true
		}
	}
	return err != nil
}
