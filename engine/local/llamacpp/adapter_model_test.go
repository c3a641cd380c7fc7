//go:build llamacpp && cgo

package llamacpp

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
)

// randomAdapter makes an adapter of rank 4 for some tensors of a model. The
// second of each pair holds numbers of about that size.
func randomAdapter(t testing.TB, model string, size float32, names ...string) string {
	t.Helper()
	file, err := gguf.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	random := func(size float32) func() float32 {
		return func() float32 { return float32(r.NormFloat64()) * size }
	}
	var tensors []gguf.Weight
	for _, base := range file.Tensors {
		for _, name := range names {
			if strings.HasSuffix(base.Name, name) {
				tensors = append(tensors,
					loraMatrix(base.Name+".lora_a", 4, base.Dims[0], random(0.05)),
					loraMatrix(base.Name+".lora_b", base.Dims[1], 4, random(size)))
			}
		}
	}
	return writeGGUF(t, tensors, loraKeys(file.Architecture())...)
}

// TestAdapters: one that adds nothing leaves a model as it is, and one that
// adds something changes what it says and the vectors that it makes.
func TestAdapters(t *testing.T) {
	model := modelFile(t, smallest)
	weights := []string{"attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight", "ffn_up.weight", "ffn_gate.weight", "ffn_down.weight"}
	zero, small, large := randomAdapter(t, model, 0, weights...), randomAdapter(t, model, 0.001, "attn_q.weight"), randomAdapter(t, model, 0.3, weights...)
	type result struct {
		text    string
		logprob float64
		vector  []float32
	}
	run := func(adapters ...string) result {
		m := openModel(t, Options{Path: model, Adapters: adapters, Threads: 1, Context: 512, Parallel: 2})
		defer m.Close()
		job := measured(greedy(tokenize(t, m, ask("What is the capital of France?")), 12))
		got, err := answerOf(t.Context(), m, job)
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := m.Embed(t.Context(), [][]int32{tokenize(t, m, "a fox")})
		if err != nil {
			t.Fatal(err)
		}
		return result{got.text, got.pieces[0].Logprob, vectors[0]}
	}
	plain, same, shifted, other := run(), run(zero), run(small), run(large)
	if !strings.Contains(plain.text, "Paris") {
		t.Fatalf("without an adapter the answer is %q", plain.text)
	}
	if same.text != plain.text || same.logprob != plain.logprob || !slices.Equal(same.vector, plain.vector) {
		t.Errorf("an adapter that adds nothing: %q (%v) is now %q (%v)", plain.text, plain.logprob, same.text, same.logprob)
	}
	if shifted.logprob == plain.logprob || slices.Equal(shifted.vector, plain.vector) {
		t.Error("an adapter that adds a little changes no number")
	}
	if other.text == plain.text || slices.Equal(other.vector, plain.vector) {
		t.Errorf("an adapter that adds much changes nothing: %q", other.text)
	}
	// As many pairs as the check lets through must have room in llama.cpp.
	file, err := gguf.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	adapters := []string{large}
	for pairs := 7 * 30; pairs+30 <= len(file.Tensors); pairs += 30 {
		adapters = append(adapters, small)
	}
	if both := run(adapters...); both.text == plain.text {
		t.Errorf("%d adapters change nothing", len(adapters))
	}
}

// TestBrokenAdapters: they are errors of loading, also where the head looks
// right to us.
func TestBrokenAdapters(t *testing.T) {
	model := modelFile(t, smallest)
	q := []gguf.Weight{loraMatrix("blk.0.attn_q.weight.lora_a", 4, 576, nothing), loraMatrix("blk.0.attn_q.weight.lora_b", 576, 4, nothing)}
	keys := loraKeys("llama")
	for _, tt := range []struct {
		name, path, want string
	}{
		{"a model", model, "not an adapter"},
		{"another shape", writeGGUF(t, []gguf.Weight{q[0], loraMatrix(q[1].Name, 575, 4, nothing)}, keys...), "do not fit"},
		{"a strange alpha", writeGGUF(t, q, append(keys[:6:6], "adapter.lora.alpha", uint32(8))...), "must be a float32"},
		{"alpha in words", writeGGUF(t, q, append(keys[:6:6], "adapter.lora.alpha", "8")...), "must be a float32"},
	} {
		m, err := Open(t.Context(), Options{Path: model, Adapters: []string{tt.path}, Threads: 1, Context: 512})
		if err == nil {
			m.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}
