package gguf

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"iter"
)

// Magic is the first bytes of a file.
const Magic = "GGUF"

const version = 3 // of written files

// encoder encodes a header.
type encoder struct{ bytes.Buffer }

func (e *encoder) number(n uint64, width int) {
	e.Write(binary.LittleEndian.AppendUint64(nil, n)[:width])
}

func (e *encoder) text(s string) {
	e.number(uint64(len(s)), 8)
	e.WriteString(s)
}

func (e *encoder) start(version uint32, tensors, keys int) {
	e.WriteString(Magic)
	e.number(uint64(version), 4)
	e.number(uint64(tensors), 8)
	e.number(uint64(keys), 8)
}

func (e *encoder) key(k Key) {
	e.text(k.Name)
	e.number(uint64(k.Type), 4)
	switch k.Type {
	case String:
		e.text(k.Text)
	case ArrayOf:
		e.array(k.Array)
	default:
		e.number(k.Bits, k.Type.Width())
	}
}

func (e *encoder) array(v Values) {
	e.number(uint64(v.Type), 4)
	if v.Type == String {
		e.number(uint64(len(v.Texts)), 8)
		for _, s := range v.Texts {
			e.text(s)
		}
		return
	}
	e.number(uint64(len(v.Bits)), 8)
	for _, bits := range v.Bits {
		e.number(bits, v.Type.Width())
	}
}

// tensor encodes a tensor's header.
func (e *encoder) tensor(name string, kind Type, offset uint64, dims ...uint64) {
	e.text(name)
	e.number(uint64(len(dims)), 4)
	for _, n := range dims {
		e.number(n, 8)
	}
	e.number(uint64(kind), 4)
	e.number(offset, 8)
}

func (t Tensor) dims() []uint64 {
	var all []uint64
	for _, n := range t.Dims {
		all = append(all, uint64(n))
	}
	return all
}

// pad appends zeros up to the next aligned offset.
func (e *encoder) pad(alignment int64) { e.Write(make([]byte, padding(int64(e.Len()), alignment))) }

// padding is how many bytes are missing from n to the next aligned offset.
func padding(n, alignment int64) int64 { return (alignment - n%alignment) % alignment }

func zeros(n int64) io.Reader { return io.LimitReader(zero{}, n) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (d *Draft) alignment() int64 { return cmp.Or(d.Alignment, minAlignment) }

func (d *Draft) header() []byte {
	var e encoder
	e.start(version, len(d.Tensors), len(d.Keys))
	for _, k := range d.Keys {
		e.key(k)
	}
	offset := int64(0)
	for _, t := range d.Tensors {
		e.tensor(t.Name, t.Type, uint64(offset)+t.Shift, t.Dims...)
		offset += d.padded(t)
	}
	e.pad(d.alignment())
	return e.Bytes()
}

// sections yields the header and the tensor data, with their offsets.
func (d *Draft) sections() iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		header := d.header()
		if !yield(0, header) {
			return
		}
		at := int64(len(header))
		for _, t := range d.Tensors {
			data := t.Data[:min(t.size(), int64(len(t.Data)))]
			if at > maxDraft || len(data) > 0 && !yield(at, data) {
				return
			}
			at += d.padded(t)
		}
	}
}

func (d *Draft) size() int64 {
	size := int64(0)
	for _, t := range d.Tensors {
		size += d.padded(t)
	}
	return int64(len(d.header())) + min(size, maxDraft)
}

// padded is the size of a tensor with padding.
func (d *Draft) padded(t Weight) int64 { return t.size() + padding(t.size(), d.alignment()) }

func (t Weight) size() int64 {
	count := int64(1)
	for _, n := range t.Dims {
		if n > maxDraft || count > maxDraft {
			return maxDraft
		}
		count *= int64(n)
	}
	return min(t.Type.Size(count), maxDraft)
}
