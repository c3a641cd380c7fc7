package modelfile

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
	"github.com/diglot/diglot/engine/models/store"
)

// draft is a file of keys, in pairs, and tensors.
func draft(keys []any, tensors ...gguf.Weight) *gguf.Draft {
	d := &gguf.Draft{Tensors: tensors}
	for pair := range slices.Chunk(keys, 2) {
		d.Set(pair[0].(string), pair[1])
	}
	return d
}

// floats is a tensor of type F32 whose data differs from that of others.
func floats(name string, fill byte, dims ...uint64) gguf.Weight {
	n := uint64(1)
	for _, d := range dims {
		n *= d
	}
	return gguf.Weight{Name: name, Dims: dims, Data: bytes.Repeat([]byte{fill}, int(4*n))}
}

// llama is a model of one layer that could be run.
func llama(extra ...any) *gguf.Draft {
	keys := []any{
		"general.architecture", "llama", "general.file_type", uint32(15), "llama.block_count", uint32(1), "llama.context_length", uint32(64),
		"llama.embedding_length", uint32(8), "llama.feed_forward_length", uint32(3), "llama.attention.head_count", uint32(1),
		"llama.attention.layer_norm_rms_epsilon", float32(1e-5), "tokenizer.ggml.model", "llama", "tokenizer.ggml.tokens", []string{"<unk>", "<s>", "</s>"},
	}
	return draft(append(keys, extra...),
		floats("token_embd.weight", 1, 8, 3), floats("output_norm.weight", 2, 8), floats("blk.0.attn_norm.weight", 3, 8), floats("blk.0.attn_q.weight", 4, 8, 8),
		floats("blk.0.attn_k.weight", 5, 8, 8), floats("blk.0.attn_v.weight", 6, 8, 8), floats("blk.0.attn_output.weight", 7, 8, 8), floats("blk.0.ffn_norm.weight", 8, 8),
		floats("blk.0.ffn_gate.weight", 9, 8, 3), floats("blk.0.ffn_up.weight", 10, 8, 3),
		gguf.Weight{Name: "blk.0.ffn_down.weight", Type: gguf.F16, Dims: []uint64{3, 8}, Data: bytes.Repeat([]byte{11}, 48)},
	)
}

// embedder is a model that makes embeddings and no text.
func embedder() *gguf.Draft { return llama("llama.pooling_type", uint32(gguf.PoolingMean)) }

// recurrent is a model whose state covers a whole text.
func recurrent(t *testing.T) *gguf.Draft {
	t.Helper()
	recipes, err := inspectiontest.Recipes(1)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(recipes, func(r inspectiontest.Recipe) bool { return r.Architecture == "mamba" })
	model, err := inspectiontest.Model(recipes[i], 1)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// projector is one of one layer that the model of llama could use.
func projector() *gguf.Draft {
	const v = "clip.vision."
	third := []float32{0.5, 0.5, 0.5}
	return draft([]any{
		"general.architecture", "clip", "clip.projector_type", "mlp", "clip.has_vision_encoder", true,
		v + "embedding_length", uint32(4), v + "feed_forward_length", uint32(5), v + "block_count", uint32(1), v + "projection_dim", uint32(8),
		v + "attention.head_count", uint32(2), v + "attention.layer_norm_epsilon", float32(1e-5), v + "image_size", uint32(4), v + "patch_size", uint32(2),
		v + "image_mean", third, v + "image_std", third,
	},
		floats("v.patch_embd.weight", 1, 2, 2, 3, 4), floats("v.position_embd.weight", 2, 4, 4), floats("mm.0.weight", 3, 4, 6), floats("mm.0.bias", 4, 6),
		floats("mm.2.weight", 5, 6, 8), floats("mm.2.bias", 6, 8), floats("v.blk.0.attn_q.weight", 7, 4, 4), floats("v.blk.0.attn_k.weight", 8, 4, 4),
		floats("v.blk.0.attn_v.weight", 9, 4, 4), floats("v.blk.0.attn_out.weight", 10, 4, 4), floats("v.blk.0.ffn_up.weight", 11, 4, 5), floats("v.blk.0.ffn_down.weight", 12, 5, 4),
	)
}

func lora(architecture string) *gguf.Draft {
	return draft([]any{"general.architecture", architecture, "general.type", "adapter", "adapter.type", "lora", "adapter.lora.alpha", float32(1)},
		floats("blk.0.attn_q.weight.lora_a", 4, 8, 2), floats("blk.0.attn_q.weight.lora_b", 5, 2, 8))
}

// bench is a store and a directory with files.
type bench struct {
	t        *testing.T
	store    *store.Store
	dir      string
	warnings []string
	progress []Progress
	pulled   []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	store, err := store.Open(store.Options{Dir: filepath.Join(t.TempDir(), "models"), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, store: store, dir: t.TempDir()}
	b.file("m.gguf", llama().Bytes())
	b.file("mmproj.gguf", projector().Bytes())
	b.file("lora.gguf", lora("llama").Bytes())
	return b
}

func (b *bench) file(name string, content []byte) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) source() Source {
	return Source{Store: b.store, Dir: b.dir, Home: b.dir,
		Warn:     func(s string) { b.warnings = append(b.warnings, s) },
		Progress: func(p Progress) { b.progress = append(b.progress, p) }}
}

func (b *bench) name(s string) store.Name {
	b.t.Helper()
	n, err := store.ParseName(s)
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *bench) parse(text string) *File {
	b.t.Helper()
	f, err := Parse(strings.NewReader(text))
	if err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	return f
}

func (b *bench) try(name, text string) (*store.Model, error) {
	b.t.Helper()
	return Create(b.t.Context(), b.source(), b.name(name), b.parse(text))
}

func (b *bench) create(name, text string) *store.Model {
	b.t.Helper()
	m, err := b.try(name, text)
	if err != nil {
		b.t.Fatalf("%s: %v", text, err)
	}
	return m
}

// content lists the layers of a model: what they are for, and the texts among
// them.
func (b *bench) content(m *store.Model) []string {
	b.t.Helper()
	var all []string
	for _, l := range m.Manifest.Layers {
		kind := l.MediaType[strings.LastIndex(l.MediaType, ".")+1:]
		raw, err := b.store.ReadBlob(l, 1<<20)
		if err != nil {
			b.t.Fatal(err)
		}
		if bytes.HasPrefix(raw, []byte(gguf.Magic)) {
			raw = []byte(gguf.Magic)
		}
		all = append(all, kind+" "+string(raw))
	}
	return all
}
