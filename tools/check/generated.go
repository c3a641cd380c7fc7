package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// generated runs the generators and compares, then restores the files.
func generated(ctx context.Context, out io.Writer) (tally, error) {
	before, err := readTree("gen")
	if err != nil {
		return tally{}, err
	}
	if err := execute(ctx, out, nil, "go", "generate", "./..."); err != nil {
		return tally{}, err
	}
	after, err := readTree("gen")
	if err != nil {
		return tally{}, err
	}
	stale := differences(before, after)
	if len(stale) == 0 {
		return tally{}, nil
	}
	for _, name := range stale {
		fmt.Fprintln(out, name)
	}
	return tally{}, errors.Join(errors.New("these files are out of date; run make generate"),
		restore(stale, before))
}

// readTree reads all files below a folder.
func readTree(folder string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = os.ReadFile(path)
		return err
	})
	return files, err
}

// differences lists the files that differ between the trees.
func differences(before, after map[string][]byte) []string {
	var names []string
	for name, content := range after {
		if old, ok := before[name]; !ok || !bytes.Equal(old, content) {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// restore writes back the old content of the named files, or removes them.
func restore(names []string, old map[string][]byte) error {
	var errs []error
	for _, name := range names {
		if content, ok := old[name]; ok {
			errs = append(errs, os.WriteFile(name, content, 0o644))
		} else {
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}
