package sdcpp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/engine"
)

// Places are where a library may lie.
type Places struct {
	Chosen  string // file that the user named; empty: none
	Program string // this program, which may have it beside
	Cache   string // the user's cache folder; empty: none
}

// Find returns the path of the library. The error of a missing one is for clients.
func Find(p Places) (string, error) {
	if p.Chosen != "" {
		if err := isFile(p.Chosen); err != nil {
			return "", fmt.Errorf("the image engine cannot be opened: %w", err)
		}
		return filepath.Abs(p.Chosen)
	}
	var candidates []string
	if p.Program != "" {
		candidates = append(candidates, filepath.Join(filepath.Dir(p.Program), LibraryName()))
	}
	if p.Cache != "" {
		candidates = append(candidates, filepath.Join(Pinned().Folder(p.Cache), LibraryName()))
	}
	for _, path := range candidates {
		if isFile(path) == nil {
			return path, nil
		}
	}
	return "", missing()
}

// isFile fails unless path is a regular file.
func isFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: path, Err: errors.New("not a file")}
	}
	return nil
}

// missing tells how to get the library.
func missing() *engine.Error {
	e := engine.Errorf(engine.CodeUnsupported, "This server has no image engine. Build it once with `make imagegen`, "+
		"or name its library with --imagegen FILE.").At(engine.Place{Field: engine.FieldModel})
	e.NoRetry = true
	return e
}
