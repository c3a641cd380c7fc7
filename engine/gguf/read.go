package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Limits of a header, far above real files (vocabularies have up to 300,000 entries,
// templates 100 KB, models 2,000 tensors). They bound memory, and llama.cpp's time,
// which is quadratic in the number of keys.
const (
	maxKeys    = 1 << 12
	maxTensors = 1 << 14
	maxString  = 1 << 24
	maxName    = 1 << 16
	maxKept    = 1 << 26 // bytes of strings and arrays in memory
	keepArray  = 1 << 12 // longer arrays are skipped
	keptValue  = 24      // bytes of an array element in memory
)

// Read reads the header of one file of the given size, and checks that each tensor
// lies inside the file.
func Read(r io.Reader, size int64) (*File, error) { return newReader(r, size).read() }

func newReader(r io.Reader, size int64) *reader {
	return &reader{r: bufio.NewReaderSize(r, 1<<16), size: size, room: maxKept}
}

func (d *reader) read() (*File, error) {
	file, err := d.file()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("the file is truncated within %s (%d bytes long)", d.section, d.size)
	}
	return file, err
}

// reader reads a header. section names the current part of the file, for errors.
type reader struct {
	r       *bufio.Reader
	size    int64
	at      int64
	room    int64 // remaining bytes of maxKept
	section string
	element ValueType         // of the array that was read last
	wanted  map[string]*Array // for ReadArrays
	whole   int64             // remaining bytes of maxWhole
}

func (d *reader) file() (*File, error) {
	d.section = "the header"
	magic, err := d.bytes(len(Magic))
	if err != nil {
		return nil, err
	}
	if string(magic) != Magic {
		return nil, fmt.Errorf("not a GGUF file: it begins with %q", magic)
	}
	version, err := d.uint(4)
	if err != nil {
		return nil, err
	}
	if version != 2 && version != 3 {
		return nil, fmt.Errorf("GGUF version %d; only 2 and 3 are supported", version)
	}
	tensors, err := d.count("tensors", maxTensors)
	if err != nil {
		return nil, err
	}
	keys, err := d.count("metadata keys", maxKeys)
	if err != nil {
		return nil, err
	}
	file := &File{version: uint32(version), meta: map[string]any{}, kinds: map[string]Kind{}, Size: d.size}
	for range keys {
		if err := d.pair(file); err != nil {
			return nil, err
		}
	}
	if file.Tensors, err = d.tensors(tensors); err != nil {
		return nil, err
	}
	if err := d.check(file); err != nil {
		return nil, err
	}
	return file, nil
}

func (d *reader) pair(file *File) error {
	d.section = "the metadata"
	start := d.at
	key, err := d.string(maxName)
	if err != nil {
		return err
	}
	d.section = fmt.Sprintf("metadata key %q", key)
	if key == "" || strings.ContainsRune(key, 0) {
		return fmt.Errorf("%s: a key must not be empty or contain NUL", d.section)
	}
	kind, err := d.kind()
	if err != nil {
		return err
	}
	if _, ok := file.meta[key]; ok {
		return fmt.Errorf("duplicate metadata key %q", key)
	}
	value, err := d.value(kind, key)
	if err != nil {
		return err
	}
	file.meta[key], file.kinds[key] = value, Kind{kind, d.element}
	file.spans = append(file.spans, span{key, start, d.at - start})
	return nil
}

func (d *reader) value(kind ValueType, key string) (any, error) {
	d.element = 0
	switch kind {
	case String:
		return d.string(maxString)
	case ArrayOf:
		return d.array(key)
	}
	width := kind.Width()
	if width == 0 {
		return nil, fmt.Errorf("metadata key %q has unknown type %d", key, uint32(kind))
	}
	raw, err := d.uint(width)
	if err != nil {
		return nil, err
	}
	if kind == Float32 {
		return widen(math.Float32frombits(uint32(raw))), nil
	}
	return scalar(kind, raw), nil
}

func scalar(kind ValueType, raw uint64) any {
	switch kind {
	case Int8:
		return int64(int8(raw))
	case Int16:
		return int64(int16(raw))
	case Int32:
		return int64(int32(raw))
	case Int64:
		return int64(raw)
	case Float32:
		return float64(math.Float32frombits(uint32(raw)))
	case Float64:
		return math.Float64frombits(raw)
	case Bool:
		return raw != 0
	}
	return raw
}

// widen returns the float64 with the shortest decimal digits of v, which are what
// was meant: 0.6, not 0.6000000238418579.
func widen(v float32) float64 {
	wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64) // cannot fail
	return wide
}

// array returns a short array of scalars, and the length of others.
func (d *reader) array(key string) (any, error) {
	kind, err := d.kind()
	if err != nil {
		return nil, err
	}
	n, err := d.uint(8)
	if err != nil {
		return nil, err
	}
	d.element = kind
	if keep, ok := d.wanted[key]; ok {
		return length(n), d.elements(kind, n, keep)
	}
	if kind == String {
		return length(n), d.skipStrings(n)
	}
	width := kind.Width()
	if width == 0 {
		return nil, fmt.Errorf("metadata key %q is an array of unknown type %d", key, uint32(kind))
	}
	if n > uint64(d.size)/uint64(width) {
		return nil, io.ErrUnexpectedEOF
	}
	if n > keepArray {
		return length(n), d.skip(int64(n) * int64(width))
	}
	if err := d.keep(int64(n) * keptValue); err != nil {
		return nil, err
	}
	values := make([]any, 0, n)
	for range n {
		raw, err := d.uint(width)
		if err != nil {
			return nil, err
		}
		values = append(values, scalar(kind, raw))
	}
	return values, nil
}

func (d *reader) skipStrings(n uint64) error {
	// Each string has a length of 8 bytes.
	if n > uint64(d.size)/8 {
		return io.ErrUnexpectedEOF
	}
	for range n {
		length, err := d.uint(8)
		if err != nil {
			return err
		}
		if length > uint64(d.size) {
			return io.ErrUnexpectedEOF
		}
		if err := d.skip(int64(length)); err != nil {
			return err
		}
	}
	return nil
}

func (d *reader) kind() (ValueType, error) {
	n, err := d.uint(4)
	return ValueType(n), err
}

func (d *reader) count(what string, limit uint64) (uint64, error) {
	n, err := d.uint(8)
	if err == nil && n > limit {
		err = fmt.Errorf("the header claims %d %s", n, what)
	}
	return n, err
}

// uint reads a number. Peek and Discard cost a fifth of ReadFull, and a vocabulary has as
// many numbers as tokens.
func (d *reader) uint(width int) (uint64, error) {
	buf, err := d.r.Peek(width)
	if err != nil {
		d.at += int64(len(buf))
		if len(buf) > 0 && errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	var n uint64
	switch width {
	case 8:
		n = binary.LittleEndian.Uint64(buf)
	case 4:
		n = uint64(binary.LittleEndian.Uint32(buf))
	case 2:
		n = uint64(binary.LittleEndian.Uint16(buf))
	default:
		n = uint64(buf[0])
	}
	_, err = d.r.Discard(width)
	d.at += int64(width)
	return n, err
}

func (d *reader) bytes(n int) ([]byte, error) {
	buf := make([]byte, n)
	read, err := io.ReadFull(d.r, buf)
	d.at += int64(read)
	return buf, err
}

func (d *reader) string(limit uint64) (string, error) {
	n, err := d.uint(8)
	if err != nil {
		return "", err
	}
	if n > uint64(d.size) {
		return "", io.ErrUnexpectedEOF
	}
	if n > limit {
		return "", fmt.Errorf("a string of %d bytes in %s", n, d.section)
	}
	if err := d.keep(int64(n)); err != nil {
		return "", err
	}
	buf, err := d.bytes(int(n))
	return string(buf), err
}

// keep counts bytes in memory, as the size of a sparse file is no limit.
func (d *reader) keep(n int64) error {
	if d.room -= n; d.room < 0 {
		return fmt.Errorf("more than %d bytes of metadata up to %s", maxKept, d.section)
	}
	return nil
}

func (d *reader) skip(n int64) error {
	for n > 0 {
		skipped, err := d.r.Discard(int(min(n, 1<<30)))
		d.at += int64(skipped)
		if err != nil {
			return err
		}
		n -= int64(skipped)
	}
	return nil
}
