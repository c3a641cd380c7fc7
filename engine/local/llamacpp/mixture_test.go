//go:build llamacpp && cgo

package llamacpp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
)

// mixture writes a model whose experts are the feed-forward parts of layers of the
// smallest one, with a router in 32 bits, as most mixtures of experts have.
func mixture(t *testing.T) string {
	t.Helper()
	const layers, experts, used = 3, 4, 2
	path := modelFile(t, smallest)
	file, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := gguf.DraftOf(path)
	if err != nil {
		t.Fatal(err)
	}
	data := weightsIn(t, path, file)
	var made []gguf.Weight
	for _, w := range d.Tensors {
		w.Data = data[w.Name]
		layer, part, _ := strings.Cut(strings.TrimPrefix(w.Name, "blk."), ".")
		switch {
		case !strings.HasPrefix(w.Name, "blk."):
			made = append(made, w)
		case !slices.Contains([]string{"0", "1", "2"}, layer):
		case strings.HasPrefix(part, "ffn_") && part != "ffn_norm.weight":
			w.Name = strings.Replace(w.Name, ".weight", "_exps.weight", 1)
			w.Dims, w.Data = append(slices.Clone(w.Dims), experts), nil
			for e := range experts {
				w.Data = append(w.Data, data[fmt.Sprintf("blk.%d.%s", e, part)]...)
			}
			made = append(made, w)
		default:
			made = append(made, w)
		}
	}
	width, _ := file.Int("llama.embedding_length")
	random := rand.New(rand.NewPCG(1, 1))
	for layer := range layers {
		router := gguf.Weight{Name: fmt.Sprintf("blk.%d.ffn_gate_inp.weight", layer), Type: gguf.F32, Dims: []uint64{uint64(width), experts}}
		for range width * experts {
			router.Data = binary.LittleEndian.AppendUint32(router.Data, math.Float32bits(float32(random.NormFloat64())))
		}
		made = append(made, router)
	}
	d.Tensors = made
	d.Keys = slices.DeleteFunc(d.Keys, func(k gguf.Key) bool { return k.Name == "llama.block_count" })
	d.Set("llama.block_count", uint32(layers))
	d.Set("llama.expert_count", uint32(experts))
	d.Set("llama.expert_used_count", uint32(used))
	out := filepath.Join(t.TempDir(), "mixture.gguf")
	if err := d.Write(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// weightsIn are the data of the tensors of a file, by name.
func weightsIn(t *testing.T, path string, file *gguf.File) map[string][]byte {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{}
	for _, tensor := range file.Tensors {
		data[tensor.Name] = whole[tensor.Offset : tensor.Offset+tensor.Bytes]
	}
	return data
}

// TestMixture: what a token gets from experts depends on no other token of its batch. The
// first prompt after loading is read without its last token, others with it.
func TestMixture(t *testing.T) {
	if matrix.Instructions() == "" {
		t.Log("llama.cpp computes experts here")
		return
	}
	options := Options{Path: mixture(t), Context: 1024, Parallel: 4}
	m := openModel(t, options)
	var jobs []chat.Job
	for _, q := range questions {
		jobs = append(jobs, measured(greedy(tokenize(t, m, ask(q)), 16)))
	}
	var alone []reply
	for _, job := range jobs {
		fresh := openModel(t, options)
		alone = append(alone, decodeAll(t, fresh, []chat.Job{job})...)
		fresh.Close()
	}
	for i, got := range decodeAll(t, m, jobs) {
		same(t, questions[i]+" (together)", alone[i], got)
	}
	before := m.Stats().Steps
	decodeAll(t, m, []chat.Job{greedy(tokenize(t, m, "Once upon a time there was"), 1)})
	if got := m.Stats().Steps - before; got != 1 {
		t.Errorf("a prompt is read in %d steps, want 1", got)
	}
	for i, job := range jobs {
		same(t, questions[i]+" (again)", alone[i], decodeAll(t, m, []chat.Job{job})[0])
	}
}
