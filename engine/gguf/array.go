package gguf

import (
	"fmt"
	"io"
	"os"
)

// Array is a metadata array, such as the vocabulary.
type Array struct {
	Kind    ValueType
	Strings []string  // of an array of strings
	Numbers []float64 // of any other array; true is 1
}

// maxWhole limits the bytes of the arrays that ReadArrays returns. The biggest
// vocabularies take a tenth of it.
const maxWhole = 1 << 28

// ReadArrays reads arrays, which [Open] skips, by their keys. The result lacks keys
// that are missing or not arrays. Open must have accepted the file.
func ReadArrays(path string, keys ...string) (map[string]Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, withoutPath(err)
	}
	return readArrays(f, stat.Size(), keys...)
}

func readArrays(r io.Reader, size int64, keys ...string) (map[string]Array, error) {
	wanted := map[string]*Array{}
	for _, key := range keys {
		wanted[key] = &Array{}
	}
	d := newReader(r, size)
	d.wanted, d.whole = wanted, maxWhole
	file, err := d.read()
	if err != nil {
		return nil, err
	}
	arrays := map[string]Array{}
	for key, array := range wanted {
		if kind, ok := file.Kind(key); ok && kind.Type == ArrayOf {
			arrays[key] = *array
		}
	}
	return arrays, nil
}

// elements reads the elements of an array.
func (d *reader) elements(kind ValueType, n uint64, array *Array) error {
	array.Kind = kind
	width := uint64(kind.Width())
	if kind == String {
		width = 8 // of its length
	}
	if width == 0 {
		return fmt.Errorf("%s is an array of unknown type %d", d.section, uint32(kind))
	}
	if n > uint64(d.size)/width {
		return io.ErrUnexpectedEOF
	}
	if err := d.keepWhole(int64(n) * 16); err != nil {
		return err
	}
	if kind == String {
		return d.strings(n, array)
	}
	array.Numbers = make([]float64, n)
	for i := range array.Numbers {
		raw, err := d.uint(int(width))
		if err != nil {
			return err
		}
		array.Numbers[i] = number(scalar(kind, raw))
	}
	return nil
}

func (d *reader) strings(n uint64, array *Array) error {
	array.Strings = make([]string, n)
	var buf []byte
	for i := range array.Strings {
		size, err := d.uint(8)
		if err != nil {
			return err
		}
		if size > uint64(d.size) {
			return io.ErrUnexpectedEOF
		}
		if err := d.keepWhole(int64(size)); err != nil {
			return err
		}
		if uint64(cap(buf)) < size {
			buf = make([]byte, size)
		}
		read, err := io.ReadFull(d.r, buf[:size])
		d.at += int64(read)
		if err != nil {
			return err
		}
		array.Strings[i] = string(buf[:size])
	}
	return nil
}

func (d *reader) keepWhole(n int64) error {
	if d.whole -= n; d.whole < 0 {
		return fmt.Errorf("more than %d bytes of arrays up to %s", maxWhole, d.section)
	}
	return nil
}

func number(value any) float64 {
	switch v := value.(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case bool:
		if v {
			return 1
		}
	}
	return 0
}
