package modelfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/diglot/diglot/engine/gguf"
)

// The types of values in a GGUF file that are not numbers of a fixed size.
const (
	ggufString = 8
	ggufArray  = 9
)

// ggufWidths are the bytes of the others, by the number of the type.
var ggufWidths = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// readRawHead reads the head of a file once more, with its bytes. That the head
// is right, [gguf.Read] says; here it is only walked over.
func readRawHead(f io.ReadSeeker, size int64) (*rawHead, error) {
	checked, err := gguf.Read(f, size)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	w := &walker{r: bufio.NewReaderSize(f, 1<<16), size: size}
	h, err := w.head()
	if err != nil {
		return nil, fmt.Errorf("the file changed while it was read: %w", err)
	}
	if len(h.tensors) != len(checked.Tensors) {
		return nil, fmt.Errorf("the file changed while it was read")
	}
	number, count := checked.Part()
	h.number, h.count = uint64(number), uint64(count)
	h.alignment = 32
	if n, ok := checked.Int("general.alignment"); ok {
		h.alignment = n
	}
	h.data = w.at + padding(w.at, h.alignment)
	for i, t := range checked.Tensors {
		h.tensors[i].bytes = t.Bytes
	}
	return h, nil
}

// walker reads and keeps what it read since the last mark.
type walker struct {
	r    *bufio.Reader
	size int64
	at   int64
	kept bytes.Buffer
}

// mark gives the bytes since the last one.
func (w *walker) mark() []byte {
	raw := bytes.Clone(w.kept.Bytes())
	w.kept.Reset()
	return raw
}

func (w *walker) read(n int64) ([]byte, error) {
	if n < 0 || n > w.size-w.at {
		return nil, io.ErrUnexpectedEOF
	}
	start := w.kept.Len()
	copied, err := io.CopyN(&w.kept, w.r, n)
	w.at += copied
	return w.kept.Bytes()[start:], err
}

func (w *walker) uint32() (uint32, error) {
	raw, err := w.read(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(raw), nil
}

func (w *walker) uint64() (uint64, error) {
	raw, err := w.read(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(raw), nil
}

func (w *walker) string() (string, error) {
	n, err := w.uint64()
	if err != nil {
		return "", err
	}
	raw, err := w.read(int64(n))
	return string(raw), err
}

func (w *walker) head() (*rawHead, error) {
	h := &rawHead{}
	if _, err := w.read(4); err != nil { // GGUF
		return nil, err
	}
	var err error
	if h.version, err = w.uint32(); err != nil {
		return nil, err
	}
	tensors, err := w.uint64()
	if err != nil {
		return nil, err
	}
	pairs, err := w.uint64()
	if err != nil {
		return nil, err
	}
	w.mark()
	for range pairs {
		key, err := w.pair()
		if err != nil {
			return nil, err
		}
		if raw := w.mark(); !isSplitKey(key) {
			h.pairs = append(h.pairs, raw)
		}
	}
	for range tensors {
		t, err := w.tensor()
		if err != nil {
			return nil, err
		}
		h.tensors = append(h.tensors, t)
	}
	return h, nil
}

func (w *walker) pair() (key string, err error) {
	if key, err = w.string(); err != nil {
		return "", err
	}
	kind, err := w.uint32()
	if err != nil {
		return "", err
	}
	return key, w.value(kind)
}

// value walks over one; arrays hold no arrays, which [gguf.Read] refuses.
func (w *walker) value(kind uint32) error {
	if kind == ggufString {
		_, err := w.string()
		return err
	}
	if kind != ggufArray {
		_, err := w.read(ggufWidths[kind])
		return err
	}
	element, err := w.uint32()
	if err != nil {
		return err
	}
	n, err := w.uint64()
	if err != nil {
		return err
	}
	if element != ggufString {
		if n > uint64(w.size) {
			return io.ErrUnexpectedEOF
		}
		_, err := w.read(int64(n) * ggufWidths[element])
		return err
	}
	for range n {
		if _, err := w.string(); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) tensor() (rawTensor, error) {
	var t rawTensor
	var err error
	if t.name, err = w.string(); err != nil {
		return t, err
	}
	dims, err := w.uint32()
	if err != nil {
		return t, err
	}
	if _, err := w.read(8*int64(dims) + 4); err != nil { // and the type
		return t, err
	}
	t.info = w.mark()
	offset, err := w.uint64()
	w.mark()
	t.offset = int64(offset)
	return t, err
}
