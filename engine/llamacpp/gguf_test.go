package llamacpp

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ggufBuilder writes heads of files.
type ggufBuilder struct{ bytes.Buffer }

func newGGUF(tensors, keys uint64) *ggufBuilder {
	b := &ggufBuilder{}
	b.WriteString("GGUF")
	return b.u32(3).u64(tensors).u64(keys)
}

func (b *ggufBuilder) u32(v uint32) *ggufBuilder {
	b.Write(binary.LittleEndian.AppendUint32(nil, v))
	return b
}

func (b *ggufBuilder) u64(v uint64) *ggufBuilder {
	b.Write(binary.LittleEndian.AppendUint64(nil, v))
	return b
}

func (b *ggufBuilder) str(s string) *ggufBuilder {
	b.u64(uint64(len(s))).WriteString(s)
	return b
}

func (b *ggufBuilder) tensor(name string, kind uint32, offset uint64, dims ...uint64) *ggufBuilder {
	b.str(name).u32(uint32(len(dims)))
	for _, d := range dims {
		b.u64(d)
	}
	return b.u32(kind).u64(offset)
}

// data pads to the alignment and adds n bytes.
func (b *ggufBuilder) data(n int) *ggufBuilder {
	b.Write(make([]byte, (32-b.Len()%32)%32+n))
	return b
}

// small is a whole file with one of each kind of value.
func small() *ggufBuilder {
	b := newGGUF(2, 6)
	b.str("general.architecture").u32(ggufString).str("llama")
	b.str("llama.block_count").u32(ggufUint32).u32(4)
	b.str("general.sampling.temp").u32(ggufFloat32).u32(math.Float32bits(0.5))
	b.str("tokenizer.ggml.tokens").u32(ggufArray).u32(ggufString).u64(2).str("a").str("bc")
	b.str("llama.attention.head_count_kv").u32(ggufArray).u32(ggufInt32).u64(2).u32(3).u32(5)
	b.str("flag").u32(ggufBool).WriteByte(1)
	b.tensor("one", 0, 0, 4, 2).tensor("two", 12, 32, 256)
	return b.data(32 + 144)
}

func TestReadGGUF(t *testing.T) {
	file := small().Bytes()
	g, err := readGGUF(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := g.arch("block_count"); v != 4 {
		t.Errorf("block_count is %d", v)
	}
	if v, ok := g.float("general.sampling.temp"); !ok || v != 0.5 {
		t.Errorf("temp is %v", v)
	}
	if v := g.keyHeads(2, 9); v != 8 {
		t.Errorf("key heads: %d, want 3 + 5", v)
	}
	if v := g.string("llama.block_count"); v != "" {
		t.Errorf("a number read as the string %q", v)
	}
}

// TestCutGGUF cuts the file at every length: each is an error that says
// that the file ends too early.
func TestCutGGUF(t *testing.T) {
	file := small().Bytes()
	for n := range len(file) {
		_, err := readGGUF(bytes.NewReader(file[:n]), int64(n))
		if err == nil || !strings.Contains(err.Error(), "the file ends") {
			t.Errorf("cut to %d of %d bytes: error %v", n, len(file), err)
		}
	}
}

// brokenGGUF are files that are no models, and what the error must say.
var brokenGGUF = []struct {
	name string
	file []byte
	want string
}{
	{"empty", nil, "the file ends inside the header"},
	{"text", []byte("hello, I am not a model at all"), `not a GGUF file: it begins with "hell"`},
	{"wrong magic", []byte("GGML\x03\x00\x00\x00"), "not a GGUF file"},
	{"version 1", []byte("GGUF\x01\x00\x00\x00"), "GGUF version 1"},
	{"other byte order", []byte("GGUF\x00\x00\x00\x03"), "GGUF version"},
	{"huge number of tensors", newGGUF(1<<60, 0).Bytes(), "claims 1152921504606846976 tensors"},
	{"huge number of keys", newGGUF(0, 1<<60).Bytes(), "claims 1152921504606846976 metadata keys"},
	{"huge key", newGGUF(0, 1).u64(1 << 40).Bytes(), "the file ends inside the metadata"},
	{"huge string array", newGGUF(0, 1).str("k").u32(ggufArray).u32(ggufString).u64(1 << 62).Bytes(), `the file ends inside metadata key "k"`},
	{"huge number array", newGGUF(0, 1).str("k").u32(ggufArray).u32(ggufUint8).u64(1 << 62).Bytes(), `the file ends inside metadata key "k"`},
	{"array of arrays", newGGUF(0, 1).str("k").u32(ggufArray).u32(ggufArray).u64(1).u64(0).Bytes(), "unknown type 9"},
	{"unknown type", newGGUF(0, 1).str("k").u32(99).u64(0).Bytes(), "unknown type 99"},
	{"same key twice", newGGUF(0, 2).str("k").u32(ggufUint32).u32(1).str("k").u32(ggufUint32).u32(1).Bytes(), "there twice"},
	{"alignment of 3", newGGUF(0, 1).str("general.alignment").u32(ggufUint32).u32(3).Bytes(), "not a power of 2"},
	{"five dimensions", newGGUF(1, 0).tensor("t", 0, 0, 1, 1, 1, 1, 1).Bytes(), "has 5 dimensions"},
	{"too many elements", newGGUF(1, 0).tensor("t", 0, 0, 1<<40, 1<<40).Bytes(), "more elements than fit"},
	{"tensor behind the end", newGGUF(1, 0).tensor("t", 0, 1<<20, 4).data(64).Bytes(), `before the end of tensor "t"`},
	{"offset that wraps", newGGUF(1, 0).tensor("t", 0, math.MaxUint64, 4).data(64).Bytes(), `before the end of tensor "t"`},
}

func TestBrokenGGUF(t *testing.T) {
	for _, tt := range brokenGGUF {
		_, err := readGGUF(bytes.NewReader(tt.file), int64(len(tt.file)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

func FuzzReadGGUF(f *testing.F) {
	f.Add(small().Bytes())
	for _, tt := range brokenGGUF {
		f.Add(tt.file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		g, err := readGGUF(bytes.NewReader(file), int64(len(file)))
		if (g == nil) == (err == nil) {
			t.Fatalf("file %v and error %v", g, err)
		}
		if g != nil && g.bytesPerCell() <= 0 {
			t.Errorf("a cell of %d bytes", g.bytesPerCell())
		}
	})
}

func TestInspectParts(t *testing.T) {
	first := newGGUF(0, 1)
	first.str("split.count").u32(ggufUint16).Write([]byte{2, 0})
	for _, tt := range []struct {
		name   string
		file   string
		second []byte
		want   string
	}{
		{"both there", "m-00001-of-00002.gguf", small().Bytes(), ""},
		{"second is cut", "m-00001-of-00002.gguf", small().Bytes()[:50], "part m-00002-of-00002.gguf: the file ends"},
		{"second is missing", "m-00001-of-00002.gguf", nil, "m-00002-of-00002.gguf"},
		{"another name", "m.gguf", small().Bytes(), "the first of 2 parts"},
	} {
		folder := t.TempDir()
		write(t, filepath.Join(folder, tt.file), first.Bytes())
		if tt.second != nil {
			write(t, filepath.Join(folder, "m-00002-of-00002.gguf"), tt.second)
		}
		_, err := inspect(filepath.Join(folder, tt.file))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
