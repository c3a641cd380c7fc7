package gguf

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Open reads the header of a file, and those of further parts if path is the first
// part of a split model. Errors do not contain the path.
func Open(path string) (*File, error) {
	file, err := openPart(path)
	if err != nil {
		return nil, err
	}
	file.Paths = []string{path}
	number, parts := file.Part()
	if parts == 1 {
		return file, nil
	}
	names := partNames(path, parts)
	switch {
	case number != 0:
		return nil, fmt.Errorf("the file is part %d of %d; open the first one", number+1, parts)
	case names == nil:
		return nil, fmt.Errorf("the file is the first of %d parts, and its name does not end in -00001-of-%05d.gguf", parts, parts)
	}
	for i, name := range names[1:] {
		part, err := openPart(name)
		if err != nil {
			return nil, fmt.Errorf("part %s: %w", filepath.Base(name), err)
		}
		if err := file.add(part, i+1, name); err != nil {
			return nil, fmt.Errorf("part %s: %w", filepath.Base(name), err)
		}
	}
	return file, file.checkSplit()
}

// add adds the tensors of a further part.
func (f *File) add(part *File, number int, path string) error {
	if err := part.splitKey("split.no", Uint16, int64(number)); err != nil {
		return err
	}
	known := make(map[string]bool, len(f.Tensors))
	for _, t := range f.Tensors {
		known[t.Name] = true
	}
	for _, t := range part.Tensors {
		if known[t.Name] {
			return fmt.Errorf("tensor %q is in two parts", t.Name)
		}
		t.Part = number
		f.Tensors = append(f.Tensors, t)
	}
	f.Paths = append(f.Paths, path)
	f.Size += part.Size
	if len(f.Tensors) > maxTensors {
		return fmt.Errorf("the parts up to this one have more than %d tensors together", maxTensors)
	}
	return nil
}

// checkSplit checks the split.* keys of the first part.
func (f *File) checkSplit() error {
	return cmp.Or(
		f.splitKey("split.no", Uint16, 0),
		f.splitKey("split.count", Uint16, int64(len(f.Paths))),
		f.splitKey("split.tensors.count", Int32, int64(len(f.Tensors))),
	)
}

// splitKey checks the value of a key and its type, which llama.cpp expects.
func (f *File) splitKey(key string, kind ValueType, want int64) error {
	got, ok := f.Kind(key)
	if !ok || got.Type != kind {
		return fmt.Errorf("%s is missing or not a %s", key, kind)
	}
	if n, _ := f.Int(key); n != want {
		return fmt.Errorf("%s is %d; it must be %d", key, n, want)
	}
	return nil
}

func openPart(path string) (*File, error) {
	// Before opening: opening a named pipe blocks until there is a writer.
	stat, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !stat.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	return Read(f, stat.Size())
}

// withoutPath removes the path from an error.
func withoutPath(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// partSuffix is that of llama-gguf-split.
var partSuffix = regexp.MustCompile(`-00001-of-(\d{5})\.gguf$`)

// PartsOf lists the files of the model at path, by the name of its first part; only
// path if it is not one.
func PartsOf(path string) []string {
	m := partSuffix.FindStringSubmatch(path)
	if m == nil {
		return []string{path}
	}
	count, _ := strconv.Atoi(m[1]) // five digits
	if names := partNames(path, count); len(names) > 0 {
		return names
	}
	return []string{path}
}

// partNames lists the files of a split model; nil if the name of the first has another
// number of parts.
func partNames(path string, parts int) []string {
	m := partSuffix.FindStringSubmatch(path)
	if m == nil || m[1] != fmt.Sprintf("%05d", parts) {
		return nil
	}
	stem := strings.TrimSuffix(path, m[0])
	names := make([]string, parts)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%05d-of-%05d.gguf", stem, i+1, parts)
	}
	return names
}
