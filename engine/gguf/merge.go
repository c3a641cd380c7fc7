package gguf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxMerged keeps the number of open files small.
const maxMerged = 512

// Merged reads a split model as one file: the metadata of the first part without the
// split.* keys, then the tensors of all parts, at the first part's alignment. For parts
// made by llama-gguf-split it is the original file, byte for byte.
type Merged struct {
	Size int64

	content io.Reader
	left    int64
	parts   []*os.File
}

// Merge opens the parts of a file that [Open] returned.
func (f *File) Merge() (*Merged, error) {
	if len(f.Paths) > maxMerged {
		return nil, fmt.Errorf("the model has %d parts, more than %d", len(f.Paths), maxMerged)
	}
	m := &Merged{}
	for _, path := range f.Paths {
		part, err := os.Open(path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("part %s: %w", filepath.Base(path), withoutPath(err)), m.Close())
		}
		m.parts = append(m.parts, part)
	}
	if err := m.join(f); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Merged) join(f *File) error {
	alignment, err := f.alignment()
	if err != nil {
		return err
	}
	var keys []span
	for _, s := range f.spans {
		if !strings.HasPrefix(s.key, "split.") {
			keys = append(keys, s)
		}
	}
	var header encoder
	header.start(f.version, len(f.Tensors), len(keys))
	for _, s := range keys {
		// Copied from the file, since long arrays are not in memory.
		if _, err := io.Copy(&header, io.NewSectionReader(m.parts[0], s.start, s.length)); err != nil {
			return err
		}
	}
	var data []io.Reader
	offset := int64(0)
	for _, t := range f.Tensors {
		pad := padding(t.Bytes, alignment)
		header.tensor(t.Name, t.Type, uint64(offset), t.dims()...)
		data = append(data, io.NewSectionReader(m.parts[t.Part], t.Offset, t.Bytes), zeros(pad))
		offset += t.Bytes + pad
	}
	header.pad(alignment)
	m.Size = int64(header.Len()) + offset
	m.left = m.Size
	m.content = io.MultiReader(append([]io.Reader{&header}, data...)...)
	return nil
}

// Read implements [io.Reader].
func (m *Merged) Read(p []byte) (int, error) {
	n, err := m.content.Read(p)
	if m.left -= int64(n); err == io.EOF && m.left > 0 {
		return n, errors.New("a part was truncated while it was read")
	}
	return n, err
}

// Close closes the parts.
func (m *Merged) Close() error {
	var all []error
	for _, f := range m.parts {
		all = append(all, f.Close())
	}
	return errors.Join(all...)
}
