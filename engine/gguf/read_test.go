package gguf

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, file []byte) *File {
	t.Helper()
	f, err := Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRead(t *testing.T) {
	f := read(t, small().Bytes())
	if v, ok := f.Int(f.Key("block_count")); v != 4 || !ok {
		t.Errorf("block_count is %d", v)
	}
	if v, ok := f.Float("general.sampling.temp"); !ok || v != 0.6 {
		t.Errorf("temp is %v", v)
	}
	if v, ok := f.Float("llama.block_count"); !ok || v != 4 {
		t.Errorf("an integer read as the number %v", v)
	}
	if v := f.String("llama.block_count"); v != "" {
		t.Errorf("a number read as the string %q", v)
	}
	if v, ok := f.Bool("flag"); !v || !ok {
		t.Errorf("flag is %t, %t", v, ok)
	}
	if diff := cmp.Diff([]int64{3, 5}, f.Ints("llama.attention.head_count_kv")); diff != "" {
		t.Errorf("numbers of heads: %s", diff)
	}
	if diff := cmp.Diff([]int64{1, 0}, f.Ints("llama.pattern")); diff != "" {
		t.Errorf("bools: %s", diff)
	}
	if v := f.Ints("tokenizer.ggml.tokens"); v != nil {
		t.Errorf("strings read as the numbers %v", v)
	}
	if v := f.Len("tokenizer.ggml.tokens"); v != 2 {
		t.Errorf("%d tokens, want 2", v)
	}
	if v := f.Len("llama.block_count"); v != 0 {
		t.Errorf("a number of length %d", v)
	}
	data := int64(len(small().header()))
	want := []Tensor{
		{Name: "one", Type: F32, Dims: []int64{4, 2}, Elements: 8, Offset: data, Bytes: 32},
		{Name: "two", Type: 12, Dims: []int64{512}, Elements: 512, Offset: data + 32, Bytes: 288},
	}
	if diff := cmp.Diff(want, f.Tensors); diff != "" {
		t.Errorf("tensors: %s", diff)
	}
}

// TestCut cuts the file at every length: each is an error that says that the
// file ends too early.
func TestCut(t *testing.T) {
	file := small().Bytes()
	for n := range len(file) {
		_, err := Read(bytes.NewReader(file[:n]), int64(n))
		if err == nil || !strings.Contains(err.Error(), "the file is truncated") {
			t.Errorf("cut to %d of %d bytes: error %v", n, len(file), err)
		}
	}
}

// broken are files that are no models, and what the error must say.
var broken = []struct {
	name string
	file []byte
	want string
}{
	{"empty", nil, "the file is truncated within the header"},
	{"text", []byte("hello, I am not a model at all"), `not a GGUF file: it begins with "hell"`},
	{"wrong magic", []byte("GGML\x03\x00\x00\x00"), "not a GGUF file"},
	{"version 1", []byte("GGUF\x01\x00\x00\x00"), "GGUF version 1"},
	{"other byte order", []byte("GGUF\x00\x00\x00\x03"), "GGUF version"},
	{"huge number of tensors", newFile(1<<60, 0).Bytes(), "claims 1152921504606846976 tensors"},
	{"huge number of keys", newFile(0, 1<<60).Bytes(), "claims 1152921504606846976 metadata keys"},
	{"huge key", newFile(0, 1).u64(1 << 40).Bytes(), "the file is truncated within the metadata"},
	{"huge string array", newFile(0, 1).str("k").kind(ArrayOf, String).u64(1 << 62).Bytes(), `the file is truncated within metadata key "k"`},
	{"huge number array", newFile(0, 1).str("k").kind(ArrayOf, Uint8).u64(1 << 62).Bytes(), `the file is truncated within metadata key "k"`},
	{"array of arrays", newFile(0, 1).str("k").kind(ArrayOf, ArrayOf).u64(1).u64(0).Bytes(), "unknown type 9"},
	{"unknown type", newFile(0, 1).str("k").u32(99).u64(0).Bytes(), "unknown type 99"},
	{"same key twice", newFile(0, 2).str("k").kind(Uint32).u32(1).str("k").kind(Uint32).u32(1).Bytes(), "duplicate metadata key"},
	{"alignment of 3", newFile(0, 1).str("general.alignment").kind(Uint32).u32(3).Bytes(), "general.alignment is 3; it must be a power of 2 from 32"},
	{"five dimensions", newFile(1, 0).tensor("t", 0, 0, 1, 1, 1, 1, 1).Bytes(), "has 5 dimensions"},
	{"too many elements", newFile(1, 0).tensor("t", 0, 0, 1<<40, 1<<40).Bytes(), "too many elements"},
	{"a huge dimension beside none", newFile(1, 0).tensor("t", 0, 0, 0, math.MaxUint64).Bytes(), "too many elements"},
	{"more bytes than fit", newFile(1, 0).tensor("t", 0, 0, 1<<62).data(64).Bytes(), `truncated within tensor "t"`},
	{"tensor behind the end", newFile(1, 0).tensor("t", 0, 0, 32).data(64).Bytes(), `truncated within tensor "t"`},
	{"tensor elsewhere", newFile(1, 0).tensor("t", 0, 1<<20, 4).data(64).Bytes(), `tensor "t" has the offset 1048576; it must be 0`},
	{"offset that wraps", newFile(1, 0).tensor("t", 0, math.MaxUint64, 4).data(64).Bytes(), `it must be 0`},
	{"tensors that overlap", newFile(2, 0).tensor("t", 0, 0, 16).tensor("u", 0, 32, 16).data(128).Bytes(), `tensor "u" has the offset 32; it must be 64`},
	{"same tensor twice", newFile(2, 0).tensor("t", 0, 0, 8).tensor("t", 0, 32, 8).data(64).Bytes(), `duplicate tensor "t"`},
	{"a dimension of 0", newFile(1, 0).tensor("t", 0, 0, 4, 0).data(64).Bytes(), `tensor "t" has the dimensions [4 0]; none may be 0`},
	{"a part of a block", newFile(1, 0).tensor("t", 8, 0, 48).data(64).Bytes(), "stored as Q8_0 they must be a multiple of 32"},
	{"a type that is not known", newFile(1, 0).tensor("t", 4, 0, 32).data(64).Bytes(), `tensor "t" has unknown type 4`},
	{"tensor without a name", newFile(1, 0).tensor("", 0, 0, 4).data(64).Bytes(), "must have 1 to 63 bytes"},
	{"tensor with a long name", newFile(1, 0).tensor(strings.Repeat("t", 64), 0, 0, 4).data(64).Bytes(), "must have 1 to 63 bytes"},
	{"tensor whose name hides", newFile(1, 0).tensor("t\x00u", 0, 0, 4).data(64).Bytes(), "none of them NUL"},
	{"key without a name", newFile(0, 1).str("").kind(Uint32).u32(1).Bytes(), "a key must not be empty"},
	{"key whose name hides", newFile(0, 1).str("a\x00b").kind(Uint32).u32(1).Bytes(), "contain NUL"},
	{"alignment of another type", newFile(0, 1).str("general.alignment").kind(Int32).u32(32).Bytes(), "stored as int32; it must be a uint32"},
	{"alignment that is too small", newFile(0, 1).str("general.alignment").kind(Uint32).u32(8).Bytes(), "a power of 2 from 32"},
}

func TestBroken(t *testing.T) {
	for _, tt := range broken {
		_, err := Read(bytes.NewReader(tt.file), int64(len(tt.file)))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestMuchText has more strings than are kept, in a file that is long enough
// for them, as one with holes may be.
func TestMuchText(t *testing.T) {
	b := newFile(0, 6)
	for i := range 5 {
		b.str(string(rune('a' + i))).kind(String).str(strings.Repeat("x", maxString))
	}
	_, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err == nil || !strings.Contains(err.Error(), "more than 67108864 bytes of metadata") {
		t.Errorf("error %v", err)
	}
}

// TestManyArrays has more short arrays than are kept: a number that takes one
// byte in a file takes many here.
func TestManyArrays(t *testing.T) {
	const arrays = maxKept/(keepArray*keptValue) + 1
	b := newFile(0, arrays)
	for i := range arrays {
		b.str(strconv.Itoa(i)).kind(ArrayOf, Uint8).u64(keepArray).Write(make([]byte, keepArray))
	}
	_, err := Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err == nil || !strings.Contains(err.Error(), "more than 67108864 bytes of metadata") {
		t.Errorf("error %v", err)
	}
}

func TestReadArrays(t *testing.T) {
	file := small().Bytes()
	got, err := readArrays(bytes.NewReader(file), int64(len(file)), "tokenizer.ggml.tokens", "llama.pattern", "llama.block_count", "absent")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Array{
		"tokenizer.ggml.tokens": {Kind: String, Strings: []string{"a", "bc"}},
		"llama.pattern":         {Kind: Bool, Numbers: []float64{1, 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for n := range len(file) {
		_, err := readArrays(bytes.NewReader(file[:n]), int64(n), "tokenizer.ggml.tokens")
		if err == nil || !strings.Contains(err.Error(), "the file is truncated") {
			t.Errorf("cut to %d of %d bytes: error %v", n, len(file), err)
		}
	}
}

func TestKind(t *testing.T) {
	f := read(t, small().Bytes())
	for key, want := range map[string]string{
		"general.architecture": "string", "llama.block_count": "uint32", "general.sampling.temp": "float32", "flag": "bool",
		"tokenizer.ggml.tokens": "array of string", "llama.attention.head_count_kv": "array of int32",
	} {
		if kind, ok := f.Kind(key); !ok || kind.String() != want {
			t.Errorf("%s is %s, want %s", key, kind, want)
		}
	}
	if kind, ok := f.Kind("absent"); ok {
		t.Errorf("an absent key is %s", kind)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(small().Bytes())
	for _, tt := range broken {
		f.Add(tt.file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := Read(bytes.NewReader(file), int64(len(file)))
		if (got == nil) == (err == nil) {
			t.Fatalf("file %v and error %v", got, err)
		}
		if got == nil {
			return
		}
		for _, tensor := range got.Tensors {
			if tensor.Offset < 0 || tensor.Bytes < 0 || tensor.Offset+tensor.Bytes > int64(len(file)) {
				t.Errorf("tensor %q of %d bytes at %d in a file of %d", tensor.Name, tensor.Bytes, tensor.Offset, len(file))
			}
		}
		if got.Parameters() < 0 || got.Context() < 0 {
			t.Errorf("%d parameters, a context of %d", got.Parameters(), got.Context())
		}
		_ = got.Quantization()
	})
}
