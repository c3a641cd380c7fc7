package gguf

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOpenParts(t *testing.T) {
	part := func(number, count byte) []byte {
		b := newFile(1, 3)
		b.str("split.count").kind(Uint16).Write([]byte{count, 0})
		b.str("split.no").kind(Uint16).Write([]byte{number, 0})
		b.str("split.tensors.count").kind(Int32).u32(2)
		return b.tensor("t"+string('0'+rune(number)), 0, 0, 4).data(16).Bytes()
	}
	for _, tt := range []struct {
		name   string
		file   string
		first  []byte
		second []byte
		want   string
	}{
		{"both there", "m-00001-of-00002.gguf", part(0, 2), part(1, 2), ""},
		{"second is cut", "m-00001-of-00002.gguf", part(0, 2), part(1, 2)[:50], "part m-00002-of-00002.gguf: the file is truncated"},
		{"second is missing", "m-00001-of-00002.gguf", part(0, 2), nil, "part m-00002-of-00002.gguf: no such file"},
		{"another name", "m.gguf", part(0, 2), nil, "the first of 2 parts"},
		{"another number", "m-00001-of-00003.gguf", part(0, 2), nil, "the first of 2 parts"},
		{"the first twice", "m-00001-of-00002.gguf", part(0, 2), part(0, 2), "part m-00002-of-00002.gguf: split.no is 0; it must be 1"},
		{"the same tensor twice", "m-00001-of-00002.gguf", part(0, 2), bytes.Replace(part(1, 2), []byte("t1"), []byte("t0"), 1), `tensor "t0" is in two parts`},
		{"another type", "m-00001-of-00002.gguf", part(0, 2), newFile(0, 1).str("split.no").kind(Uint32).u32(1).Bytes(), "split.no is missing or not a uint16"},
		{"fewer tensors", "m-00001-of-00002.gguf", part(0, 2), withoutTensors(1), "split.tensors.count is 2; it must be 1"},
		{"the second alone", "m-00001-of-00002.gguf", part(1, 2), part(1, 2), "part 2 of 2"},
	} {
		folder := t.TempDir()
		write(t, filepath.Join(folder, tt.file), tt.first)
		if tt.second != nil {
			write(t, filepath.Join(folder, "m-00002-of-00002.gguf"), tt.second)
		}
		file, err := Open(filepath.Join(folder, tt.file))
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), folder) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		want := []Tensor{
			{Name: "t0", Dims: []int64{4}, Elements: 4, Offset: 160, Bytes: 16},
			{Name: "t1", Dims: []int64{4}, Elements: 4, Offset: 160, Bytes: 16, Part: 1},
		}
		if diff := cmp.Diff(want, file.Tensors); diff != "" {
			t.Errorf("%s: tensors %s", tt.name, diff)
		}
		if file.Size != int64(len(tt.first)+len(tt.second)) || len(file.Paths) != 2 || file.Parameters() != 8 {
			t.Errorf("%s: size %d, paths %q, %d parameters", tt.name, file.Size, file.Paths, file.Parameters())
		}
	}
}

// withoutTensors is a part that has none.
func withoutTensors(number byte) []byte {
	b := newFile(0, 1)
	b.str("split.no").kind(Uint16).Write([]byte{number, 0})
	return b.Bytes()
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMergeOfAPartThatShrinks cuts a part once its header is read.
func TestMergeOfAPartThatShrinks(t *testing.T) {
	folder := t.TempDir()
	paths := []string{filepath.Join(folder, "m-00001-of-00002.gguf"), filepath.Join(folder, "m-00002-of-00002.gguf")}
	for i, path := range paths {
		d := &Draft{Tensors: []Weight{{Name: "t" + string('0'+rune(i)), Dims: []uint64{8}}}}
		d.Set("split.no", uint16(i))
		d.Set("split.count", uint16(2))
		d.Set("split.tensors.count", int32(2))
		write(t, path, d.Bytes())
	}
	file, err := Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	merged, err := file.Merge()
	if err != nil {
		t.Fatal(err)
	}
	defer merged.Close()
	if err := os.Truncate(paths[1], file.Tensors[1].Offset+4); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(merged); err == nil || err.Error() != "a part was truncated while it was read" {
		t.Errorf("error %v", err)
	}
}
