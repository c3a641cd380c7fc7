package llamacpp

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
)

// loraMatrix is a tensor of so many rows, whose numbers the function makes.
func loraMatrix(name string, rows, columns int64, number func() float32) gguf.Weight {
	t := gguf.Weight{Name: name, Dims: []uint64{uint64(columns), uint64(rows)}}
	for range rows * columns {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(number()))
	}
	return t
}

func nothing() float32 { return 0 }

// writeGGUF writes a file of these keys and tensors. Keys come in pairs.
func writeGGUF(t testing.TB, tensors []gguf.Weight, keys ...any) string {
	t.Helper()
	file := gguf.Draft{Tensors: tensors}
	for i := 0; i < len(keys); i += 2 {
		file.Set(keys[i].(string), keys[i+1])
	}
	path := filepath.Join(t.TempDir(), "a.gguf")
	if err := file.Write(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// loraKeys are the keys of an adapter of that architecture.
func loraKeys(architecture string) []any {
	return []any{"general.type", "adapter", "general.architecture", architecture, "adapter.type", "lora", "adapter.lora.alpha", float32(8)}
}

func adapterError(t *testing.T, model, adapter string) error {
	t.Helper()
	file, err := gguf.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	return checkAdapters(file, []string{adapter})
}

func TestCheckAdapters(t *testing.T) {
	base := []gguf.Weight{
		loraMatrix("q.weight", 6, 8, nothing), loraMatrix("token_embd.weight", 10, 8, nothing), loraMatrix("output.weight", 10, 8, nothing), loraMatrix("output_norm.weight", 1, 8, nothing),
	}
	model := writeGGUF(t, base, "general.architecture", "llama", "general.type", "model")
	tied := writeGGUF(t, slices.Delete(slices.Clone(base), 2, 3), "general.architecture", "llama", "general.type", "model")
	pair := func(name string, rows, rank, columns int64) []gguf.Weight {
		return []gguf.Weight{loraMatrix(name+".lora_a", rank, columns, nothing), loraMatrix(name+".lora_b", rows, rank, nothing)}
	}
	half := func(name string) []gguf.Weight { return pair(name, 6, 2, 8)[:1] }
	turned := []gguf.Weight{loraMatrix("token_embd.weight.lora_a", 10, 2, nothing), loraMatrix("token_embd.weight.lora_b", 8, 2, nothing)}
	with := func(key string, value any) []any {
		keys := loraKeys("llama")
		for i := 0; i < len(keys); i += 2 {
			if keys[i] == key {
				keys[i+1] = value
				return keys
			}
		}
		return append(keys, key, value)
	}
	quantized := pair("q.weight", 6, 2, 8)
	quantized[0].Type, quantized[0].Data = 24, quantized[0].Data[:16]
	q := pair("q.weight", 6, 2, 8)
	for _, tt := range []struct {
		name    string
		tensors []gguf.Weight
		keys    []any
		want    string // empty: it can be used
	}{
		{"right", q, loraKeys("llama"), ""},
		{"a norm beside it", append(q[:2:2], loraMatrix("output_norm.weight", 1, 8, nothing)), loraKeys("llama"), ""},
		{"the table of tokens, turned", turned, loraKeys("llama"), ""},
		{"the table of tokens, not turned", pair("token_embd.weight", 10, 2, 8), loraKeys("llama"), "do not fit"},
		{"a model", q, with("general.type", "model"), "not an adapter"},
		{"no type", q, with("general.type", uint32(1)), "not an adapter"},
		{"a control vector", q, with("adapter.type", "vector"), `"vector"; only lora`},
		{"another architecture", q, loraKeys("qwen2"), `"qwen2", and this model is "llama"`},
		{"turned on by words", q, with("adapter.alora.invocation_tokens", []int32{1, 2}), "not supported"},
		{"empty", nil, loraKeys("llama"), "changes nothing"},
		{"a first alone", half("q.weight"), loraKeys("llama"), "not one of a pair"},
		{"a second alone", q[1:], loraKeys("llama"), "not one of a pair"},
		{"something else", append(q[:2:2], loraMatrix("extra", 2, 2, nothing)), loraKeys("llama"), "extra is not one of a pair"},
		{"a tensor that the model lacks", pair("k.weight", 6, 2, 8), loraKeys("llama"), "no tensor k.weight"},
		{"too few rows", pair("q.weight", 5, 2, 8), loraKeys("llama"), "do not fit"},
		{"too many columns", pair("q.weight", 6, 2, 9), loraKeys("llama"), "do not fit"},
		{"two ranks", []gguf.Weight{q[0], pair("q.weight", 6, 3, 8)[1]}, loraKeys("llama"), "do not fit"},
		{"a strength of another type", q, with("adapter.lora.alpha", uint32(8)), "must be a float32"},
		{"no strength at all", q, with("adapter.lora.alpha", float32(math.Inf(1))), "must be from"},
		{"bytes", quantized, loraKeys("llama"), "stored as I8"},
	} {
		err := adapterError(t, model, writeGGUF(t, tt.tensors, tt.keys...))
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
	if err := adapterError(t, tied, writeGGUF(t, turned, loraKeys("llama")...)); err == nil || !strings.Contains(err.Error(), "both reads and writes") {
		t.Errorf("a table of tokens that the model also writes with: error %v", err)
	}
	if err := adapterError(t, model, filepath.Join(t.TempDir(), "none.gguf")); err == nil || !strings.Contains(err.Error(), "none.gguf") {
		t.Errorf("a file that does not exist: error %v", err)
	}
}

// TestManyAdapters: together they may change no more tensors than the model
// has.
func TestManyAdapters(t *testing.T) {
	base := []gguf.Weight{loraMatrix("q.weight", 6, 8, nothing), loraMatrix("k.weight", 6, 8, nothing), loraMatrix("n.weight", 1, 8, nothing)}
	file, err := gguf.Open(writeGGUF(t, base, "general.architecture", "llama"))
	if err != nil {
		t.Fatal(err)
	}
	one := writeGGUF(t, []gguf.Weight{
		loraMatrix("q.weight.lora_a", 2, 8, nothing), loraMatrix("q.weight.lora_b", 6, 2, nothing),
		loraMatrix("k.weight.lora_a", 2, 8, nothing), loraMatrix("k.weight.lora_b", 6, 2, nothing),
	}, loraKeys("llama")...)
	if err := checkAdapters(file, []string{one}); err != nil {
		t.Errorf("one: error %v", err)
	}
	if err := checkAdapters(file, []string{one, one}); err == nil || !strings.Contains(err.Error(), "4 tensors") {
		t.Errorf("two: error %v", err)
	}
}
