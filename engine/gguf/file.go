// Package gguf reads the heads of GGUF files, in which llama.cpp keeps models,
// merges split ones, and writes files for tools and tests.
//
// A file is metadata (keys with values: the architecture, its sizes, the
// vocabulary, the chat template), a list of tensors (name, type, dimensions,
// place), and their data. The reader reads the first two, and never the third: a
// model of 40 GB is known after some megabytes. A model may be split
// into parts, files whose names end in -00001-of-00003.gguf; the metadata is
// in the first.
//
// Files come from strangers. A length is believed only as far as the file is
// long, what is kept in memory is bounded, and every tensor must lie inside
// the file, so that nothing that maps the file reads behind its end. What
// llama.cpp's own reader of these files would end the process for, or read
// otherwise than this one, is refused here. What the numbers mean to a model is
// not checked: that is the work of package inspection.
package gguf

import "math"

// File is what the head of a file says, and those of its further parts.
type File struct {
	// Tensors are those of all parts, in the order of the files.
	Tensors []Tensor

	// Paths are the files that were read, one for each part. Empty after [Read].
	Paths []string

	// Size of all parts, in bytes.
	Size int64

	version uint32
	spans   []span // of the keys, in the order of the file
	kinds   map[string]Kind
	meta    map[string]any // bool, int64, uint64, float64, string; []any of short arrays of these; length of others
}

// span is where a key and its value are in the file.
type span struct {
	key           string
	start, length int64
}

// length is what is kept of an array that is long, or of strings.
type length uint64

// String is the value of a key; empty where the key is absent or its value is
// of another type.
func (f *File) String(key string) string {
	s, _ := f.meta[key].(string)
	return s
}

// Int is the value of a key, and whether there is an integer. A number that is
// too large is the largest one.
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

// Float is the value of a key, and whether there is a number.
func (f *File) Float(key string) (float64, bool) {
	if v, ok := f.meta[key].(float64); ok {
		return v, true
	}
	n, ok := f.Int(key)
	return float64(n), ok
}

// Bool is the value of a key, and whether there is one that is true or false.
func (f *File) Bool(key string) (value, ok bool) {
	value, ok = f.meta[key].(bool)
	return value, ok
}

// Ints is the value of a key that is a short array of integers or of bools, 1
// being true; nil where it is none. Models have such arrays of what differs
// between their layers.
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

// Len is how many elements the array of a key has; 0 where there is none.
func (f *File) Len(key string) int {
	switch v := f.meta[key].(type) {
	case []any:
		return len(v)
	case length:
		return int(min(v, math.MaxInt32))
	}
	return 0
}

// Key is the full name of a key that belongs to the architecture: of
// "block_count", "llama.block_count".
func (f *File) Key(name string) string { return f.Architecture() + "." + name }

// Numbers are the values of a key that is a number, or a short array of
// numbers.
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
