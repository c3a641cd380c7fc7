package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CheckName refuses a name that [Change.Put] would refuse beside those that are
// there. Whoever downloads a model asks before, and not after.
func (c *Change) CheckName(n Name) error {
	if err := n.Check(); err != nil {
		return err
	}
	return c.store.refuseClash(n)
}

// refuseClash refuses a name whose file cannot be beside those of others.
func (s *Store) refuseClash(n Name) error {
	if err := s.refuseBelow(n); err != nil {
		return err
	}
	return s.refuseFold(n)
}

// refuseBelow refuses a name whose file would be where another has a folder,
// or the other way round. Only namespaces with several segments can do that.
func (s *Store) refuseBelow(n Name) error {
	if info, err := os.Stat(s.manifestPath(n)); err == nil && info.IsDir() {
		return fmt.Errorf("model %s: there are models whose names begin with %s, and both cannot be in one store: use another tag, or remove them first", n, filepath.ToSlash(n.path()))
	}
	for dir := filepath.Dir(n.path()); dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(s.manifests(), dir)); err == nil && !info.IsDir() {
			other := filepath.ToSlash(dir)
			if name, ok := nameOf(dir); ok {
				other = name.String()
			}
			return fmt.Errorf("model %s: there is a model %s already, and both cannot be in one store: use another name, or remove it first", n, other)
		}
	}
	return nil
}

// refuseFold refuses a name where another differs from it in case alone: on
// some systems both are one file.
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
			return fmt.Errorf("model %s: there is a model %s already, and names that differ in upper and lower case only are one file on some systems: use that name, or remove it first", n, other)
		}
	}
	return nil
}
