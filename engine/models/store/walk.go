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

// maxDepth is above the directory depth of any name, whose namespace has at most
// maxSpace bytes.
const maxDepth = maxSpace/2 + 4

// walk visits every file in manifests by its relative path. visit gets an error
// for what cannot be read. Links to directories are followed, because users
// move models to other disks.
func (s *Store) walk(ctx context.Context, visit func(path string, err error) error) error {
	if _, err := os.Stat(s.manifests()); errors.Is(err, fs.ErrNotExist) {
		return nil // an empty store
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
		if strings.HasPrefix(e.Name(), ".") { // from diglot or a file manager
			continue
		}
		path := filepath.Join(dir, e.Name())
		switch {
		case !s.isDir(path, e):
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

func (s *Store) isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(filepath.Join(s.manifests(), path))
	return err == nil && info.IsDir()
}

// isCircle reports whether a link leads to a directory that contains it. The
// paths through two such links grow exponentially with depth.
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
