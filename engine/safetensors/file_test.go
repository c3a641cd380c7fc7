package safetensors

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// file is a file with a header and n bytes of data.
func file(header string, n int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, n)...)
}

func TestWriteAndOpen(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, []Data{
		{Name: "b", Type: "F16", Shape: []int64{2, 3}, Bytes: make([]byte, 12)},
		{Name: "a", Type: "F32", Shape: []int64{}, Bytes: make([]byte, 4)},
	}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want := &File{Tensors: []Tensor{{Name: "a", Type: "F32", Shape: []int64{}, Size: 4}, {Name: "b", Type: "F16", Shape: []int64{2, 3}, Size: 12}}, Size: int64(out.Len())}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if start := binary.LittleEndian.Uint64(out.Bytes()); start%8 != 0 {
		t.Errorf("the data start after a header of %d bytes", start)
	}
	if !Detect(out.Bytes()) || Detect([]byte("GGUF0000{")) || Detect(nil) {
		t.Error("Detect does not tell formats apart")
	}
	if err := Write(&out, []Data{{Name: "a"}, {Name: "a"}}); err == nil {
		t.Error("a name was written twice")
	}
}

func TestRead(t *testing.T) {
	one := `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	for _, tt := range []struct {
		name, header string
		data         int
		want         string // of the error; empty: none
	}{
		{"one", one + "}", 8, ""},
		{"data at the end", one + "}", 9, ""},
		{"with metadata", one + `,"__metadata__":{"x":"y"}}`, 8, ""},
		{"two", one + `,"b":{"dtype":"I8","shape":[1,1],"data_offsets":[8,9]}}`, 9, ""},
		{"empty tensors", `{"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]},"b":{"dtype":"F32","shape":[0,5],"data_offsets":[4,4]}}`, 8, ""},
		{"cut", one + "}", 7, "offsets"},
		{"no JSON", one, 8, "not a JSON object"},
		{"an array", "[]", 8, "not a JSON object"},
		{"twice", one + "," + one[1:] + "}", 8, "not a JSON object"},
		{"overlap", one + `,"b":{"dtype":"I8","shape":[4],"data_offsets":[7,11]}}`, 20, "overlap"},
		{"size", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 8, "offsets"},
		{"backwards", `{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}`, 8, "offsets"},
		{"negative", `{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 8, "impossible shape"},
		{"overflow", `{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`, 8, "impossible shape"},
		{"overflow to little", `{"a":{"dtype":"I8","shape":[9223372036854775807,9223372036854775807,4],"data_offsets":[0,4]}}`, 8, "impossible shape"},
		{"dimensions", `{"a":{"dtype":"I8","shape":[1,1,1,1,1,1],"data_offsets":[0,1]}}`, 8, "dimensions"},
		{"type", `{"a":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}}`, 8, "unknown type"},
		{"metadata", `{"__metadata__":{"a":1}}`, 8, "metadata"},
		{"fraction", `{"a":{"dtype":"I8","shape":[1.5],"data_offsets":[0,1]}}`, 8, `tensor "a"`},
	} {
		text := file(tt.header, tt.data)
		_, err := Read(bytes.NewReader(text), int64(len(text)))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	for _, short := range [][]byte{nil, {1, 2, 3}, file("", 0)[:8], binary.LittleEndian.AppendUint64(nil, 1<<63), binary.LittleEndian.AppendUint64(nil, 9)} {
		if f, err := Read(bytes.NewReader(short), int64(len(short))); err == nil {
			t.Errorf("%v was read as %+v", short, f)
		}
	}
}

// TestMutations: whatever a header becomes, reading it ends without a panic, and
// what is accepted lies within the file.
func TestMutations(t *testing.T) {
	original := file(`{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"F16","shape":[4],"data_offsets":[8,16]}}`, 16)
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		text := bytes.Clone(original)
		for range 1 + random.IntN(4) {
			text[random.IntN(len(text))] = byte(random.IntN(256))
		}
		text = text[:len(text)-random.IntN(3)]
		f, err := Read(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			continue
		}
		var sum int64
		for _, tensor := range f.Tensors {
			sum += tensor.Size
		}
		if sum > int64(len(text)) {
			t.Errorf("mutation %d: %d bytes of tensors in a file of %d", n, sum, len(text))
		}
	}
}
