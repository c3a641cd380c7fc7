package inspectiontest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// Parts are a file taken apart, to be written again with changes. Wrong files
// can be made of them.
type Parts struct {
	Keys    []Key
	Tensors []Tensor
}

// Key is one of the metadata.
type Key struct {
	Name  string
	Type  gguf.ValueType
	Bits  uint64 // of a number
	Text  string
	Array Array
}

// Array is the value of a key that is one.
type Array struct {
	Type  gguf.ValueType
	Bits  []uint64
	Texts []string
}

// Tensor is one of the list.
type Tensor struct {
	Name  string
	Type  gguf.Type
	Dims  []uint64
	Shift uint64 // how far its place is from where it should be
	Data  []byte // nil: zeros
}

// width is how many bytes a number of a type takes.
func width(t gguf.ValueType) int {
	switch t {
	case gguf.Uint8, gguf.Int8, gguf.Bool:
		return 1
	case gguf.Uint16, gguf.Int16:
		return 2
	case gguf.Uint64, gguf.Int64, gguf.Float64:
		return 8
	}
	return 4
}

// TakeApart reads the head of a file that is right. Its weights become zeros.
func TakeApart(r io.Reader) (*Parts, error) {
	t := &taker{r: bufio.NewReader(r)}
	t.bytes(8)
	tensors, keys := t.number(8), t.number(8)
	p := &Parts{}
	for range keys {
		p.Keys = append(p.Keys, t.key())
	}
	for range tensors {
		p.Tensors = append(p.Tensors, t.tensor())
	}
	return p, t.err
}

const alignment = 32

// taker reads, and keeps the first error.
type taker struct {
	r   *bufio.Reader
	err error
}

func (t *taker) bytes(n int) []byte {
	raw := make([]byte, n)
	if t.err == nil {
		_, t.err = io.ReadFull(t.r, raw)
	}
	return raw
}

func (t *taker) number(width int) uint64 {
	return binary.LittleEndian.Uint64(append(t.bytes(width), make([]byte, 8-width)...))
}

func (t *taker) text() string { return string(t.bytes(int(t.number(8)))) }

func (t *taker) key() Key {
	k := Key{Name: t.text(), Type: gguf.ValueType(t.number(4))}
	switch k.Type {
	case gguf.String:
		k.Text = t.text()
	case gguf.ArrayOf:
		k.Array.Type = gguf.ValueType(t.number(4))
		n := t.number(8)
		if k.Array.Type == gguf.String {
			for range n {
				k.Array.Texts = append(k.Array.Texts, t.text())
			}
			break
		}
		w := width(k.Array.Type)
		raw := t.bytes(int(n) * w)
		for chunk := range slices.Chunk(raw, w) {
			k.Array.Bits = append(k.Array.Bits, binary.LittleEndian.Uint64(append(slices.Clone(chunk), make([]byte, 8-w)...)))
		}
	default:
		k.Bits = t.number(width(k.Type))
	}
	return k
}

func (t *taker) tensor() Tensor {
	n := Tensor{Name: t.text()}
	for range t.number(4) {
		n.Dims = append(n.Dims, t.number(8))
	}
	n.Type = gguf.Type(t.number(4))
	t.bytes(8) // its place
	return n
}

// Clone is a copy whose lists can be changed; what they hold is shared.
func (p *Parts) Clone() *Parts {
	return &Parts{slices.Clone(p.Keys), slices.Clone(p.Tensors)}
}

// Head is the file up to the weights, and how long it is with them.
func (p *Parts) Head() (head []byte, size int64) {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, 3, 4)
	put(&b, uint64(len(p.Tensors)), 8)
	put(&b, uint64(len(p.Keys)), 8)
	for _, k := range p.Keys {
		k.put(&b)
	}
	offset := int64(0)
	for _, t := range p.Tensors {
		putText(&b, t.Name)
		put(&b, uint64(len(t.Dims)), 4)
		for _, n := range t.Dims {
			put(&b, n, 8)
		}
		put(&b, uint64(t.Type), 4)
		put(&b, uint64(offset)+t.Shift, 8)
		offset += padded(t.size())
	}
	b.Write(make([]byte, padded(int64(b.Len()))-int64(b.Len())))
	return b.Bytes(), int64(b.Len()) + min(offset, maxFile)
}

// Bytes is the whole file, in memory.
func (p *Parts) Bytes() []byte {
	b, size := p.Head()
	at := len(b)
	b = append(b, make([]byte, size-int64(at))...)
	for _, t := range p.Tensors {
		copy(b[at:], t.Data)
		at += int(padded(t.size()))
	}
	return b
}

// maxFile bounds files with holes.
const maxFile = 1 << 40

func padded(n int64) int64 { return (n + alignment - 1) / alignment * alignment }

func (t Tensor) size() int64 {
	count := int64(1)
	for _, n := range t.Dims {
		if n > maxFile || count > maxFile {
			return maxFile
		}
		count *= int64(n)
	}
	return min(t.Type.Size(count), maxFile)
}

// Write writes the file. Weights that are not there are a hole.
func (p *Parts) Write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, size := p.Head()
	if _, err := f.Write(head); err != nil {
		return err
	}
	if err := f.Truncate(size); err != nil {
		return err
	}
	at := int64(len(head))
	for _, t := range p.Tensors {
		n := min(t.size(), int64(len(t.Data)))
		if at+n > size {
			break
		}
		if n > 0 {
			if _, err := f.WriteAt(t.Data[:n], at); err != nil {
				return err
			}
		}
		at += padded(t.size())
	}
	return f.Close()
}

func (k Key) put(b *bytes.Buffer) {
	putText(b, k.Name)
	put(b, uint64(k.Type), 4)
	switch k.Type {
	case gguf.String:
		putText(b, k.Text)
	case gguf.ArrayOf:
		put(b, uint64(k.Array.Type), 4)
		if k.Array.Type == gguf.String {
			put(b, uint64(len(k.Array.Texts)), 8)
			for _, text := range k.Array.Texts {
				putText(b, text)
			}
			return
		}
		put(b, uint64(len(k.Array.Bits)), 8)
		for _, bits := range k.Array.Bits {
			put(b, bits, width(k.Array.Type))
		}
	default:
		put(b, k.Bits, width(k.Type))
	}
}

func put(b *bytes.Buffer, n uint64, width int) {
	b.Write(binary.LittleEndian.AppendUint64(nil, n)[:width])
}

func putText(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)), 8)
	b.WriteString(s)
}
