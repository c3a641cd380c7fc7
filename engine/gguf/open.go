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

// Open reads the head of a file, and of the parts that belong to it: path is
// then the first. An error says what is wrong, without the path.
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
		return nil, fmt.Errorf("the file is part %d of %d; the model is opened by the first one", number+1, parts)
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
	return file, file.whole()
}

// add takes the tensors of a further part.
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

// whole looks whether the first of several parts tells about all of them.
func (f *File) whole() error {
	return cmp.Or(
		f.splitKey("split.no", Uint16, 0),
		f.splitKey("split.count", Uint16, int64(len(f.Paths))),
		f.splitKey("split.tensors.count", Int32, int64(len(f.Tensors))),
	)
}

// splitKey wants a key with a value, in the type that llama.cpp takes it in.
func (f *File) splitKey(key string, kind ValueType, want int64) error {
	got, ok := f.Kind(key)
	if !ok || got.Type != kind {
		return fmt.Errorf("%s must be there as a %s", key, kind)
	}
	if n, _ := f.Int(key); n != want {
		return fmt.Errorf("%s is %d; it must be %d", key, n, want)
	}
	return nil
}

func openPart(path string) (*File, error) {
	// Asked before it is opened: opening a named pipe waits for a writer.
	stat, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !stat.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	return Read(f, stat.Size())
}

// withoutPath leaves what went wrong: the caller knows the path, and whether
// to tell.
func withoutPath(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// partSuffix also bounds the number of parts: llama.cpp writes five digits.
var partSuffix = regexp.MustCompile(`-00001-of-(\d{5})\.gguf$`)

// PartsOf lists the files of the model whose first one is at path, by its name
// alone: it is only path itself where the name is not that of one of several.
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

// partNames lists the files of a model that is split; nil where the name of
// the first does not fit.
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
