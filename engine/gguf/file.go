// Package gguf reads the headers of GGUF files, llama.cpp's model format, merges split
// models, and writes files for tools and tests.
//
// A file has metadata (keys with values: architecture, sizes, vocabulary, chat
// template), tensor headers (name, type, dimensions, offset) and tensor data. The data
// is never read, so a few megabytes of a 40 GB model suffice. A model may be split into
// files whose names end in -00001-of-00003.gguf; the metadata is in the first.
//
// Files are not trusted. Lengths are checked against the file's size, memory is
// bounded, and every tensor must lie inside the file, so that mapping it is safe. What
// makes llama.cpp's reader abort, or what it reads differently, is refused. What the
// values mean to a model is checked by package inspection.
package gguf

import "math"

// File is the header of a file, with those of its further parts.
type File struct {
	// Tensors of all parts, in file order.
	Tensors []Tensor

	// Paths of the parts. Empty after [Read].
	Paths []string

	// Size of all parts, in bytes.
	Size int64

	version uint32
	spans   []span // of keys, in file order
	kinds   map[string]Kind
	meta    map[string]any // bool, int64, uint64, float64, string; []any for short arrays of these; length for others
}

// span is where a key with its value is in the file.
type span struct {
	key           string
	start, length int64
}

// length stands for a long array, or an array of strings.
type length uint64

// String returns the value of a string key, or "".
func (f *File) String(key string) string {
	s, _ := f.meta[key].(string)
	return s
}

// Int returns the value of an integer key, and whether there is one. Larger values
// become math.MaxInt64.
func (f *File) Int(key string) (int64, bool) { return integer(f.meta[key]) }

func integer(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(min(v, math.MaxInt64)), true
	}
	return 0, false
}

// Float returns the value of a numeric key, and whether there is one.
func (f *File) Float(key string) (float64, bool) {
	if v, ok := f.meta[key].(float64); ok {
		return v, true
	}
	n, ok := f.Int(key)
	return float64(n), ok
}

// Bool returns the value of a bool key, and whether there is one.
func (f *File) Bool(key string) (value, ok bool) {
	value, ok = f.meta[key].(bool)
	return value, ok
}

// Ints returns a short array of integers or bools, with 1 for true, or nil. Models have
// them for values that differ between layers.
func (f *File) Ints(key string) []int64 {
	array, ok := f.meta[key].([]any)
	if !ok {
		return nil
	}
	numbers := make([]int64, len(array))
	for i, v := range array {
		if b, isBool := v.(bool); isBool {
			if b {
				numbers[i] = 1
			}
			continue
		}
		if numbers[i], ok = integer(v); !ok {
			return nil
		}
	}
	return numbers
}

// Len returns the length of an array, or 0.
func (f *File) Len(key string) int {
	switch v := f.meta[key].(type) {
	case []any:
		return len(v)
	case length:
		return int(min(v, math.MaxInt32))
	}
	return 0
}

// Key adds the prefix of the architecture to a key, as in "llama.block_count".
func (f *File) Key(name string) string { return f.Architecture() + "." + name }

// Numbers returns the value of a numeric key or a short array of numbers.
func (f *File) Numbers(key string) ([]float64, bool) {
	array, ok := f.meta[key].([]any)
	if !ok {
		array = []any{f.meta[key]}
	}
	numbers := make([]float64, len(array))
	for i, value := range array {
		switch value.(type) {
		case int64, uint64, float64:
			numbers[i] = number(value)
		default:
			return nil, false
		}
	}
	return numbers, true
}
