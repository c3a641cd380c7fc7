package modelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// A model that is split into parts becomes one file in the store. The layout
// has no place for parts: llama.cpp finds the second by the name of the first,
// and blobs are named by their digests. The merged file has the metadata of the
// first part without what says that it is split, then all tensors in the order
// of the parts. Of parts that llama.cpp's own tool made, that is the file that
// was split, byte for byte, so both are one blob.

// maxParts keeps the number of open files small.
const maxParts = 512

// splitKeys begins the keys that say how a file is split.
const splitKeys = "split."

// merged reads as the one file that parts are merged into.
type merged struct {
	io.Reader
	size  int64
	files []*os.File
}

// Close closes the parts.
func (m *merged) Close() error {
	var all []error
	for _, f := range m.files {
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}

// merge opens the parts of a file whose head [gguf.Open] has read.
func merge(file *gguf.File) (*merged, error) {
	if len(file.Paths) > maxParts {
		return nil, fmt.Errorf("the model has %d parts, more than %d", len(file.Paths), maxParts)
	}
	m := &merged{}
	parts := make([]*rawHead, len(file.Paths))
	for i, path := range file.Paths {
		var err error
		if parts[i], err = m.open(path); err != nil {
			return nil, errors.Join(fmt.Errorf("part %s: %w", filepath.Base(path), err), m.Close())
		}
	}
	if err := checkParts(file, parts); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	m.join(parts)
	return m, nil
}

func (m *merged) open(path string) (*rawHead, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	m.files = append(m.files, f)
	info, err := f.Stat()
	if err != nil {
		return nil, reason(err)
	}
	return readRawHead(f, info.Size())
}

// checkParts looks whether the parts belong together.
func checkParts(file *gguf.File, parts []*rawHead) error {
	if want, ok := file.Int("split.tensors.count"); ok && want != int64(len(file.Tensors)) {
		return fmt.Errorf("the first part says that there are %d tensors, and the parts have %d", want, len(file.Tensors))
	}
	seen := map[string]bool{}
	for i, p := range parts {
		if p.number != uint64(i) || p.count != uint64(len(parts)) {
			return fmt.Errorf("%s says that it is part %d of %d", filepath.Base(file.Paths[i]), p.number+1, p.count)
		}
		for _, t := range p.tensors {
			if seen[t.name] {
				return fmt.Errorf("tensor %s is in two parts", shown(t.name))
			}
			seen[t.name] = true
		}
	}
	return nil
}

// join lays the tensors out anew, each at a multiple of the first part's
// alignment: that is where llama.cpp expects them.
func (m *merged) join(parts []*rawHead) {
	first := parts[0]
	count := 0
	for _, p := range parts {
		count += len(p.tensors)
	}
	var head bytes.Buffer
	head.WriteString("GGUF")
	putNumber(&head, first.version)
	putNumber(&head, uint64(count))
	putNumber(&head, uint64(len(first.pairs)))
	for _, pair := range first.pairs {
		head.Write(pair)
	}
	var data []io.Reader
	offset := int64(0)
	for i, p := range parts {
		for _, t := range p.tensors {
			head.Write(t.info)
			putNumber(&head, uint64(offset))
			data = append(data, io.NewSectionReader(m.files[i], p.data+t.offset, t.bytes), zeros(padding(t.bytes, first.alignment)))
			offset += t.bytes + padding(t.bytes, first.alignment)
		}
	}
	head.Write(make([]byte, padding(int64(head.Len()), first.alignment)))
	m.size = int64(head.Len()) + offset
	m.Reader = io.MultiReader(append([]io.Reader{&head}, data...)...)
}

// putNumber writes a number of a fixed size. It cannot fail: the buffer grows.
func putNumber[T uint32 | uint64](b *bytes.Buffer, n T) { _ = binary.Write(b, binary.LittleEndian, n) }

func zeros(n int64) io.Reader { return bytes.NewReader(make([]byte, n)) }

func padding(n, alignment int64) int64 { return (alignment - n%alignment) % alignment }

// rawHead is the head of a part, in the bytes of the file.
type rawHead struct {
	version       uint32
	pairs         [][]byte // keys with values, without those of [splitKeys]
	tensors       []rawTensor
	alignment     int64
	data          int64 // where the data of the tensors begins
	number, count uint64
}

type rawTensor struct {
	name          string
	info          []byte // without the offset, which comes last
	offset, bytes int64
}

func isSplitKey(key string) bool { return strings.HasPrefix(key, splitKeys) }
