package gguf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
		if file.add(part, i+1, name); len(file.Tensors) > maxTensors {
			return nil, fmt.Errorf("the parts have more than %d tensors together", maxTensors)
		}
	}
	return file, nil
}

func (f *File) add(part *File, number int, path string) {
	for _, t := range part.Tensors {
		t.Part = number
		f.Tensors = append(f.Tensors, t)
	}
	f.Paths = append(f.Paths, path)
	f.Size += part.Size
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
