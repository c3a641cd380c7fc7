package llamacpp

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
	writer "github.com/diglot/diglot/tools/gguf"
)

// modelBytes is a file with the metadata of a model of an architecture, and
// one tensor.
func modelBytes(t *testing.T, architecture string, meta map[string]any) []byte {
	t.Helper()
	file := writer.File{Tensors: []writer.Tensor{{Name: "one", Shape: []uint64{2}, Type: writer.TensorF32, Data: make([]byte, 8)}}}
	if architecture != "" {
		file.Set("general.architecture", architecture)
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		file.Set(key, meta[key])
	}
	var b bytes.Buffer
	if _, err := file.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// head is what is read of such a file.
func head(t *testing.T, architecture string, meta map[string]any) *gguf.File {
	t.Helper()
	content := modelBytes(t, architecture, meta)
	file, err := gguf.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}
