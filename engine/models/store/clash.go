package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CheckName refuses a name that [Change.Put] would refuse, so that this is known
// before a download.
func (c *Change) CheckName(n Name) error {
	if err := n.Check(); err != nil {
		return err
	}
	return c.store.refuseClash(n)
}

// refuseClash refuses a name whose manifest path conflicts with another's.
func (s *Store) refuseClash(n Name) error {
	if err := s.refuseBelow(n); err != nil {
		return err
	}
	return s.refuseFold(n)
}

// refuseBelow refuses a name whose manifest would be the directory of another
// name, or the other way round. Only namespaces of several segments can collide.
func (s *Store) refuseBelow(n Name) error {
	if info, err := os.Stat(s.manifestPath(n)); err == nil && info.IsDir() {
		return fmt.Errorf("model %s: conflicts with models whose names begin with %s: use another tag, or remove those models", n, filepath.ToSlash(n.path()))
	}
	for dir := filepath.Dir(n.path()); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(s.manifests(), dir)); err == nil && !info.IsDir() {
			other := filepath.ToSlash(dir)
			if name, ok := nameOf(dir); ok {
				other = name.String()
			}
			return fmt.Errorf("model %s: conflicts with model %s: use another name, or remove that model", n, other)
		}
	}
	return nil
}

// refuseFold refuses a name that differs from an existing one only in case: on
// case-insensitive file systems both are one file.
func (s *Store) refuseFold(n Name) error {
	found := []string{""}
	for part := range strings.SplitSeq(filepath.ToSlash(n.path()), "/") {
		var next []string
		for _, below := range found {
			entries, err := os.ReadDir(filepath.Join(s.manifests(), below))
			if err != nil && !isGone(err) {
				return fmt.Errorf("list the models: %w", err)
			}
			for _, e := range entries {
				if strings.EqualFold(e.Name(), part) {
					next = append(next, filepath.Join(below, e.Name()))
				}
			}
		}
		found = next
	}
	for _, path := range found {
		if other, ok := nameOf(path); ok && other != n {
			return fmt.Errorf("model %s: differs only in case from model %s: use that name, or remove that model", n, other)
		}
	}
	return nil
}
