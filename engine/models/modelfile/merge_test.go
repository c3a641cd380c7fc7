package modelfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/llamacpp"
)

// wholeModel is a model with tensors of lengths that need padding.
func wholeModel(alignment uint32) *gguf.Draft {
	d := llama("general.alignment", alignment, "x.scores", []float32{1, 2, 3})
	d.Alignment = int64(alignment)
	d.Tensors = append(d.Tensors, floats("blk.0.ffn_gate.bias", 12, 3), floats("blk.0.ffn_up.bias", 13, 3))
	return d
}

// split writes a model in parts of so many tensors, as the tool of llama.cpp
// does: all keys in the first, and what is split in each.
func (b *bench) split(name string, d *gguf.Draft, each int) string {
	count := (len(d.Tensors) + each - 1) / each
	first := ""
	for n, tensors := range slices.Collect(slices.Chunk(d.Tensors, each)) {
		part := &gguf.Draft{Tensors: tensors}
		if n == 0 {
			part.Keys, part.Alignment = slices.Clone(d.Keys), d.Alignment
		}
		part.Set("split.no", uint16(n))
		part.Set("split.count", uint16(count))
		part.Set("split.tensors.count", int32(len(d.Tensors)))
		path := b.file(fmt.Sprintf("%s-%05d-of-%05d.gguf", name, n+1, count), part.Bytes())
		if n == 0 {
			first = path
		}
	}
	return first
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		alignment uint32
		each      int
	}{{32, 1}, {32, 2}, {32, 5}, {64, 2}, {128, 2}, {4096, 5}} {
		b := newBench(t)
		w := wholeModel(tt.alignment)
		m := b.create("m", "FROM "+b.split("parts", w, tt.each))
		if len(m.Manifest.Layers) != 1 {
			t.Fatalf("%+v: %d layers", tt, len(m.Manifest.Layers))
		}
		path := b.store.BlobPath(m.Manifest.Layers[0].Digest)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := w.Bytes(); !bytes.Equal(got, want) {
			t.Errorf("%+v: the merged file is not the whole one: %d bytes and %d", tt, len(got), len(want))
		}
		if err := llamacpp.Check(path); err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

func TestMergeAgain(t *testing.T) {
	b := newBench(t)
	m := b.create("m", "FROM "+b.split("parts", wholeModel(32), 5))
	second, _ := b.again(m)
	if second.Digest != m.Digest {
		t.Errorf("digest %s, not %s", second.Digest, m.Digest)
	}
	b.file("one/x.txt", nil)
	b.split("one/parts", wholeModel(32), 5)
	if third := b.create("m", "FROM one"); third.Digest != m.Digest {
		t.Errorf("digest of the directory %s, not %s", third.Digest, m.Digest)
	}
}

func TestMergeErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(b *bench) string
		want string
	}{
		{"a part is missing", func(b *bench) string {
			path := b.split("p", wholeModel(32), 5)
			os.Remove(filepath.Join(b.dir, "p-00003-of-00003.gguf"))
			return path
		}, "part p-00003-of-00003.gguf: no such file"},
		{"not the first", func(b *bench) string {
			b.split("p", wholeModel(32), 5)
			return "p-00002-of-00003.gguf"
		}, "part 2 of 3"},
		{"the same part twice", func(b *bench) string {
			path := b.split("p", wholeModel(32), 5)
			raw, _ := os.ReadFile(filepath.Join(b.dir, "p-00002-of-00003.gguf"))
			b.file("p-00003-of-00003.gguf", raw)
			return path
		}, "p-00003-of-00003.gguf: split.no is 1; it must be 2"},
		{"of another model", func(b *bench) string {
			path := b.split("p", wholeModel(32), 5)
			raw, _ := os.ReadFile(filepath.Join(b.dir, "p-00001-of-00003.gguf"))
			b.file("p-00002-of-00003.gguf", raw)
			return path
		}, "p-00002-of-00003.gguf: split.no is 0; it must be 1"},
		{"a tensor twice", func(b *bench) string {
			w := wholeModel(32)
			w.Tensors[7].Name = "token_embd.weight"
			return b.split("p", w, 5)
		}, `part p-00002-of-00003.gguf: tensor "token_embd.weight" is in two parts`},
	} {
		b := newBench(t)
		_, err := b.try("m", "FROM "+tt.do(b))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
