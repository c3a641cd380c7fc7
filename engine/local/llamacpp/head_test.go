package llamacpp

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
)

// modelBytes is a file with the metadata of a model of an architecture, and
// one tensor.
func modelBytes(t *testing.T, architecture string, meta map[string]any) []byte {
	t.Helper()
	file := gguf.Draft{Tensors: []gguf.Weight{{Name: "one", Dims: []uint64{2}}}}
	if architecture != "" {
		file.Set("general.architecture", architecture)
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		file.Set(key, meta[key])
	}
	return file.Bytes()
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
