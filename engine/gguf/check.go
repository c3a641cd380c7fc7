package gguf

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
)

// Limits of llama.cpp.
const (
	minAlignment = 32 // bytes, for tensors in a mapped file
	maxAlignment = 1 << 20
	maxTensor    = 63 // bytes of a tensor's name
)

// check checks that the tensors are where llama.cpp expects them: inside the file, in
// order, each at the next aligned offset. It makes their offsets relative to the file
// instead of the data section.
func (d *reader) check(file *File) error {
	alignment, err := file.alignment()
	if err != nil {
		return err
	}
	data := saturated(d.at, padding(d.at, alignment))
	names := make(map[string]bool, len(file.Tensors))
	next := int64(0)
	for i, t := range file.Tensors {
		switch {
		case names[t.Name]:
			return fmt.Errorf("duplicate tensor %q", t.Name)
		case t.Offset != next:
			return fmt.Errorf("tensor %q has the offset %d; it must be %d, after the previous tensor", t.Name, t.Offset, next)
		}
		if end := saturated(data, t.Offset, t.Bytes); end > d.size {
			return fmt.Errorf("the file is truncated within tensor %q: it has %d bytes and needs %d more", t.Name, d.size, end-d.size)
		}
		names[t.Name] = true
		file.Tensors[i].Offset += data
		next = saturated(next, t.Bytes, padding(t.Bytes, alignment))
	}
	return nil
}

func (f *File) alignment() (int64, error) {
	const key = "general.alignment"
	kind, ok := f.Kind(key)
	if !ok {
		return minAlignment, nil
	}
	if kind.Type != Uint32 {
		return 0, fmt.Errorf("%s is stored as %s; it must be a uint32", key, kind)
	}
	n, _ := f.Int(key)
	if n < minAlignment || n > maxAlignment || bits.OnesCount64(uint64(n)) != 1 {
		return 0, fmt.Errorf("%s is %d; it must be a power of 2 from %d to %d", key, n, minAlignment, maxAlignment)
	}
	return n, nil
}

// saturated adds with saturation, against hostile offsets.
func saturated(numbers ...int64) int64 {
	sum := int64(0)
	for _, n := range numbers {
		if sum += n; sum < 0 {
			return math.MaxInt64
		}
	}
	return sum
}

// check checks a tensor's header.
func (t Tensor) check() error {
	l, ok := layouts[t.Type]
	switch {
	case t.Name == "" || len(t.Name) > maxTensor || strings.ContainsRune(t.Name, 0):
		return fmt.Errorf("a tensor has the name %.80q; it must have 1 to %d bytes, none of them NUL", t.Name, maxTensor)
	case !ok:
		return fmt.Errorf("tensor %q has unknown type %d", t.Name, uint32(t.Type))
	}
	for _, n := range t.Dims {
		if n == 0 {
			return fmt.Errorf("tensor %q has the dimensions %v; none may be 0", t.Name, t.Dims)
		}
	}
	if row := t.Dim(0); uint64(row)%l.elements != 0 {
		return fmt.Errorf("tensor %q has rows of %d numbers; stored as %s they must be a multiple of %d", t.Name, row, l.name, l.elements)
	}
	return nil
}
