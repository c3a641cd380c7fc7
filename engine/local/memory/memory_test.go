package memory

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
)

// head is the head of a model of an architecture, whose keys are written
// without the name of it.
func head(t testing.TB, architecture string, meta map[string]any) *gguf.File {
	t.Helper()
	var file gguf.Draft
	file.Set("general.architecture", architecture)
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		file.Set(architecture+"."+key, meta[key])
	}
	content := file.Bytes()
	read, err := gguf.Read(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// eight is a model of 8 billion parameters in 4.9 bits each, as many have it.
func eight(t testing.TB) *gguf.File {
	file := head(t, "llama", map[string]any{
		"block_count": uint32(32), "context_length": uint32(131072), "embedding_length": uint32(4096),
		"feed_forward_length": uint32(14336), "attention.head_count": uint32(32), "attention.head_count_kv": uint32(8),
		"vocab_size": uint32(128256),
	})
	file.Tensors = []gguf.Tensor{
		{Name: "token_embd.weight", Type: 12, Elements: 500e6, Bytes: 281_250_000},
		{Name: "blk.0.ffn_up.weight", Type: 12, Elements: 7000e6, Bytes: 4_200_000_000},
		{Name: "output.weight", Type: 14, Elements: 500e6, Bytes: 410_000_000},
	}
	return file
}

const gigabyte = 1_000_000_000

func TestFit(t *testing.T) {
	tests := []struct {
		name      string
		options   Options
		available int64
		context   int
		cells     int
	}{
		{"all that it was trained with", Options{Parallel: 8}, 200 * gigabyte, 131072, 131072},
		{"a part of it: half of what is left", Options{}, 12 * gigabyte, 26112, 26112},
		{"more parts do not fit beside", Options{Parallel: 8}, 12 * gigabyte, 26112, 26112},
		{"hardly anything", Options{Parallel: 8}, 5_600_000_000, 2048, 2048},
		{"a context that is asked for", Options{Context: 4000, Parallel: 1}, 12 * gigabyte, 4000, 4096},
		{"and some for others", Options{Context: 4000, Parallel: 8}, 12 * gigabyte, 4000, 16384},
		{"and fewer for others", Options{Context: 4000, Parallel: 64}, 12 * gigabyte, 4000, 25856},
		{"it may take more than half", Options{Context: 40000}, 12 * gigabyte, 40000, 40192},
		{"more than it was trained with", Options{Context: 150000}, 200 * gigabyte, 150000, 150016},
	}
	for _, tt := range tests {
		m := newModel(eight(t), tt.options)
		plan, err := m.fit(tt.options, tt.available)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if plan.Context != tt.context || plan.Cells != tt.cells {
			t.Errorf("%s: context %d of %d cells, want %d of %d", tt.name, plan.Context, plan.Cells, tt.context, tt.cells)
		}
		if plan.Total() > tt.available || plan.Cache != int64(plan.Cells)*131072 || plan.Weights != 4_891_250_000 {
			t.Errorf("%s: %+v of %d", tt.name, plan, tt.available)
		}
	}
}

// TestFitState has a model that keeps a state in place of what it has read: any
// context fits, or none.
func TestFitState(t *testing.T) {
	meta := map[string]any{"block_count": uint32(24), "embedding_length": uint32(768), "context_length": uint32(1 << 20),
		"ssm.conv_kernel": uint32(4), "ssm.inner_size": uint32(1536), "ssm.state_size": uint32(16)}
	m := newModel(head(t, "mamba", meta), Options{})
	plan, err := m.fit(Options{}, gigabyte)
	if err != nil || plan.Context != 1<<20 || plan.Cells != 1<<20 || plan.Cache != 8*24*(3*1536+16*1536)*4 {
		t.Errorf("%+v, %v", plan, err)
	}
	if _, err := m.fit(Options{Context: 1}, 20e6); err == nil || !strings.Contains(err.Error(), "No smaller context") {
		t.Errorf("error %v", err)
	}
}

// TestFitPlaces has models with a table of the places in a text, and without:
// there is no place behind its end, whatever is asked for.
func TestFitPlaces(t *testing.T) {
	for _, tt := range []struct {
		tensor      string
		asked, want int
	}{
		{"position_embd.weight", 0, 1000}, {"position_embd.weight", 999, 999}, {"position_embd.weight", 1001, 1000}, {"token_embd.weight", 1001, 1001},
	} {
		file := head(t, "gpt2", map[string]any{"block_count": uint32(2), "context_length": uint32(1000), "embedding_length": uint32(64), "attention.head_count": uint32(4)})
		file.Tensors = []gguf.Tensor{{Name: tt.tensor, Elements: 64000, Bytes: 256000}}
		options := Options{Context: tt.asked}
		if plan, err := newModel(file, options).fit(options, gigabyte); err != nil || plan.Context != tt.want {
			t.Errorf("%s, %d asked for: context %d, %v; want %d", tt.tensor, tt.asked, plan.Context, err, tt.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	tests := []struct {
		name      string
		options   Options
		available int64
		want      string
	}{
		{"a context that is too long", Options{Context: 100000}, 12 * gigabyte,
			"The model needs 18.3 GB of memory (weights 4.9 GB, KV cache 13.1 GB for 100096 tokens, buffers 287.7 MB), and 12.0 GB are free. A context of 52224 tokens would fit."},
		{"no context at all", Options{}, 4 * gigabyte,
			"The model needs 5.3 GB of memory (weights 4.9 GB, KV cache 268.4 MB for 2048 tokens, buffers 185.7 MB), and 4.0 GB are free. Quantized to Q2_K it would need about 3.6 GB and fit."},
		{"not even the smallest", Options{}, 3 * gigabyte,
			"The model needs 5.3 GB of memory (weights 4.9 GB, KV cache 268.4 MB for 2048 tokens, buffers 185.7 MB), and 3.0 GB are free. No smaller context or quantization of it would fit."},
		{"less than nothing", Options{}, -1,
			"The model needs 5.3 GB of memory (weights 4.9 GB, KV cache 268.4 MB for 2048 tokens, buffers 185.7 MB), and 0.0 B are free. No smaller context or quantization of it would fit."},
	}
	for _, tt := range tests {
		m := newModel(eight(t), tt.options)
		plan, err := m.fit(tt.options, tt.available)
		var refused *DoesNotFit
		if !errors.As(err, &refused) {
			t.Errorf("%s: %+v, %v", tt.name, plan, err)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, err, tt.want)
		}
		if refused.Context == 0 {
			continue
		}
		tt.options.Context = refused.Context
		if _, err := m.fit(tt.options, tt.available); err != nil {
			t.Errorf("%s: what would fit does not: %v", tt.name, err)
		}
		tt.options.Context = refused.Context + 1
		if _, err := m.fit(tt.options, tt.available); err == nil {
			t.Errorf("%s: more than what would fit does too", tt.name)
		}
	}
}

// TestCache has the numbers that llama.cpp prints for such models.
func TestCache(t *testing.T) {
	u := func(n uint32) any { return n }
	tests := []struct {
		name         string
		architecture string
		meta         map[string]any
		cell         int64
		state        int64
	}{
		{"as many heads of keys as others", "llama",
			map[string]any{"block_count": u(2), "embedding_length": u(64), "attention.head_count": u(4)}, 2 * 4 * 32 * 2, 0},
		{"fewer heads of keys", "llama",
			map[string]any{"block_count": u(2), "embedding_length": u(64), "attention.head_count": u(4), "attention.head_count_kv": u(1)}, 2 * 32 * 2, 0},
		{"heads of another width", "gemma3", map[string]any{"block_count": u(18), "embedding_length": u(640), "attention.head_count": u(4),
			"attention.head_count_kv": u(1), "attention.key_length": u(256), "attention.value_length": u(256), "attention.sliding_window": u(512)}, 18 * 512 * 2, 0},
		{"another number in each layer", "deci",
			map[string]any{"block_count": u(3), "embedding_length": u(64), "attention.head_count": []int32{4, 0, 4}, "attention.head_count_kv": []int32{2, 0, 1}}, 3 * 32 * 2, 0},
		{"latent attention", "deepseek2", map[string]any{"block_count": u(61), "embedding_length": u(7168), "attention.head_count": u(128),
			"attention.head_count_kv": u(1), "attention.key_length": u(576), "attention.value_length": u(512)}, 61 * 1088 * 2, 0},
		{"layers for guessing ahead", "glm4moe",
			map[string]any{"block_count": u(3), "embedding_length": u(64), "attention.head_count": u(4), "nextn_predict_layers": u(1)}, 2 * 4 * 32 * 2, 0},
		{"layers that look into others", "gemma3n",
			map[string]any{"block_count": u(30), "embedding_length": u(64), "attention.head_count": u(4)}, 20 * 4 * 32 * 2, 0},
		{"mamba", "mamba", map[string]any{"block_count": u(24), "embedding_length": u(768), "attention.head_count": u(0),
			"ssm.conv_kernel": u(4), "ssm.inner_size": u(1536), "ssm.state_size": u(16)}, 0, 24 * (3*1536 + 16*1536) * 4},
		{"rwkv", "rwkv7", map[string]any{"block_count": u(12), "embedding_length": u(768), "attention.head_count": u(0),
			"wkv.head_size": u(64)}, 0, 12 * (2*768 + 768*64) * 4},
		{"convolutions between", "lfm2", map[string]any{"block_count": u(2), "embedding_length": u(1024), "attention.head_count": u(16),
			"attention.head_count_kv": []int32{0, 8}, "shortconv.l_cache": u(3)}, 8 * 128 * 2, 2 * 1024 * 4},
		{"one full layer of four", "qwen3next", map[string]any{"block_count": u(8), "embedding_length": u(64), "attention.head_count": u(4),
			"ssm.conv_kernel": u(4), "ssm.inner_size": u(64), "ssm.state_size": u(16), "ssm.group_count": u(2)}, 2 * 4 * 32 * 2, 6 * (3*(64+2*2*16) + 16*64) * 4},
		{"both in each layer", "falcon-h1", map[string]any{"block_count": u(2), "embedding_length": u(64), "attention.head_count": u(4),
			"ssm.conv_kernel": u(4), "ssm.inner_size": u(64), "ssm.state_size": u(16), "ssm.group_count": u(1)}, 2 * 4 * 32 * 2, 2 * (3*(64+2*16) + 16*64) * 4},
		{"an encoder", "bert",
			map[string]any{"block_count": u(6), "embedding_length": u(384), "attention.head_count": u(12), "attention.causal": false, "pooling_type": u(1)}, 0, 0},
	}
	for _, tt := range tests {
		m := newModel(head(t, tt.architecture, tt.meta), Options{Parallel: 3})
		if m.cell != tt.cell || m.state != 3*tt.state {
			t.Errorf("%s: %d bytes for a token and %d for each text, want %d and %d", tt.name, m.cell, m.state/3, tt.cell, tt.state)
		}
	}
}

func TestEmbedder(t *testing.T) {
	tests := []struct {
		name    string
		meta    map[string]any
		options Options
		context int
		cells   int
	}{
		{"an encoder", map[string]any{"attention.causal": false, "context_length": uint32(512)}, Options{Parallel: 8}, 512, 0},
		{"one with a long context", map[string]any{"attention.causal": false, "context_length": uint32(8192)}, Options{}, 2048, 0},
		{"all of it", map[string]any{"attention.causal": false, "context_length": uint32(8192)}, Options{Context: 9000}, 8192, 0},
		{"a decoder", map[string]any{"pooling_type": uint32(3), "context_length": uint32(32768)}, Options{Parallel: 8}, 8192, 8192},
		{"a decoder that takes the mean", map[string]any{"pooling_type": uint32(1), "context_length": uint32(32768)}, Options{}, 2048, 2048},
		{"a short one", map[string]any{"pooling_type": uint32(3), "context_length": uint32(100)}, Options{}, 100, 512},
	}
	for _, tt := range tests {
		meta := map[string]any{"block_count": uint32(2), "embedding_length": uint32(64), "attention.head_count": uint32(4)}
		maps.Copy(meta, tt.meta)
		m := newModel(head(t, "x", meta), tt.options)
		plan, err := m.fit(tt.options, gigabyte)
		if err != nil || plan.Context != tt.context || plan.Cells != tt.cells {
			t.Errorf("%s: %+v, %v; want a context of %d in %d cells", tt.name, plan, err, tt.context, tt.cells)
		}
	}
}

// TestWeights counts a matrix twice that is there for reading and, copied, for
// writing.
func TestWeights(t *testing.T) {
	for _, tt := range []struct {
		name    string
		laidOut []string
		tensors []gguf.Tensor
		want    int64
	}{
		{"one for each", nil, []gguf.Tensor{{Name: "token_embd.weight", Type: 12, Bytes: 10}, {Name: "output.weight", Type: 14, Bytes: 12}}, 22},
		{"one for both, copied", nil, []gguf.Tensor{{Name: "token_embd.weight", Type: 12, Bytes: 10}, {Name: "x", Bytes: 5}}, 25},
		{"one for both, as it is", nil, []gguf.Tensor{{Name: "token_embd.weight", Type: 8, Bytes: 10}, {Name: "x", Bytes: 5}}, 15},
		{"one for both, in one layout", []string{"Q4_K"}, []gguf.Tensor{{Name: "token_embd.weight", Type: 12, Bytes: 10}, {Name: "x", Bytes: 5}}, 15},
		{"one for both, another in one layout", []string{"Q4_0"}, []gguf.Tensor{{Name: "token_embd.weight", Type: 12, Bytes: 10}, {Name: "x", Bytes: 5}}, 25},
	} {
		if got := weightsOf(&gguf.File{Tensors: tt.tensors}, tt.laidOut); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.name, got, tt.want)
		}
	}
}

// TestDraftCounts: a draft model counts with its weights, and with as many KV cells as
// the model has; the process counts once.
func TestDraftCounts(t *testing.T) {
	options := Options{Context: 4096, Parallel: 1}
	alone, draft, both := newModel(eight(t), options), newModel(eight(t), options), newModel(eight(t), options)
	both.addDraft(draft)
	one, err := alone.fit(options, 100*gigabyte)
	if err != nil {
		t.Fatal(err)
	}
	two, err := both.fit(options, 100*gigabyte)
	if err != nil {
		t.Fatal(err)
	}
	if two.Cells != one.Cells || two.Weights != 2*one.Weights || two.Cache != 2*one.Cache || two.Buffers != 2*one.Buffers-processBytes {
		t.Errorf("one %+v, with a draft model %+v", one, two)
	}
	if _, err := both.fit(options, one.Total()+gigabyte); err == nil {
		t.Error("it fits in the memory of one")
	}
}

// FuzzPlan has heads that claim anything: sums stay in bounds, and a larger
// context takes no less.
func FuzzPlan(f *testing.F) {
	f.Add(uint32(32), uint32(4096), uint32(32), uint32(131072), uint32(14336), uint32(2), 8192, int64(16*gigabyte))
	f.Add(uint32(1<<31), uint32(1<<20), uint32(1<<20), uint32(1<<31), uint32(1<<20), uint32(1<<20), 1<<31, int64(1)<<62)
	f.Add(uint32(0), uint32(0), uint32(0), uint32(0), uint32(0), uint32(0), 0, int64(-1))
	f.Fuzz(func(t *testing.T, layers, width, heads, trained, inner, experts uint32, context int, available int64) {
		file := head(t, "x", map[string]any{"block_count": layers, "embedding_length": width, "attention.head_count": heads,
			"context_length": trained, "feed_forward_length": inner, "expert_used_count": experts, "ssm.inner_size": width, "ssm.state_size": inner})
		options := Options{Context: min(max(context, 0), 1<<31), Parallel: int(experts % 64)}
		m := newModel(file, options)
		plan := m.plan(m.sizes(options))
		if plan.Weights < 0 || plan.Cache < 0 || plan.Buffers <= 0 || plan.Total() <= 0 || plan.Context <= 0 {
			t.Errorf("plan %+v", plan)
		}
		fits, err := m.fit(options, available)
		if err == nil && (fits.Total() > available || fits.Context > max(plan.Context, cellStep)) {
			t.Errorf("plan %+v of %d", fits, available)
		}
		if err != nil && err.Error() == "" {
			t.Error("an error without a text")
		}
	})
}
