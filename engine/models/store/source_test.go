package store

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/opencontainers/go-digest"
)

var sources = flag.String("sources", "", "a directory to write the GGUF files to that testdata/ollama was created from")

// The smallest model that llama.cpp loads and runs. It has a token for every
// byte, so that it reads any text. Its weights are a fixed sequence, and what
// it says is noise.
const (
	width  = 16
	hidden = 16
	heads  = 2
	train  = 512 // tokens of context
)

// TestOllamaStoreHasItsSources makes the GGUF files once more and finds them
// in the store.
func TestOllamaStoreHasItsSources(t *testing.T) {
	s := openOllama(t)
	for name, f := range map[string]*gguf.Draft{"tiny.gguf": model(), "lora.gguf": adapter()} {
		content := f.Bytes()
		l := Layer{Digest: digest.FromBytes(content), Size: int64(len(content))}
		if err := s.has(l); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if *sources == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(*sources, name), content, 0o644); err != nil {
			t.Error(err)
		}
	}
}

func model() *gguf.Draft {
	f := &gguf.Draft{}
	f.Set("general.architecture", "llama")
	f.Set("general.name", "tiny")
	f.Set("general.file_type", uint32(0)) // all F32
	f.Set("llama.block_count", uint32(1))
	f.Set("llama.context_length", uint32(train))
	f.Set("llama.embedding_length", uint32(width))
	f.Set("llama.feed_forward_length", uint32(hidden))
	f.Set("llama.attention.head_count", uint32(heads))
	f.Set("llama.attention.head_count_kv", uint32(heads))
	f.Set("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	f.Set("llama.rope.dimension_count", uint32(width/heads))
	size := vocabulary(f)
	addTensor(f, "token_embd.weight", width, size)
	addTensor(f, "output_norm.weight", width)
	for _, t := range []struct {
		name string
		dims []uint64
	}{
		{"attn_norm", []uint64{width}}, {"ffn_norm", []uint64{width}},
		{"attn_q", []uint64{width, width}}, {"attn_k", []uint64{width, width}},
		{"attn_v", []uint64{width, width}}, {"attn_output", []uint64{width, width}},
		{"ffn_gate", []uint64{width, hidden}}, {"ffn_up", []uint64{width, hidden}},
		{"ffn_down", []uint64{hidden, width}},
	} {
		addTensor(f, "blk.0."+t.name+".weight", t.dims...)
	}
	return f
}

// vocabulary has the three special tokens of Llama, and the bytes.
func vocabulary(f *gguf.Draft) uint64 {
	const normal, unknown, control, byteToken = 1, 2, 3, 6
	tokens, types := []string{"<unk>", "<s>", "</s>"}, []int32{unknown, control, control}
	for b := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, byteToken)
	}
	tokens, types = append(tokens, "▁"), append(types, normal)
	f.Set("tokenizer.ggml.model", "llama")
	f.Set("tokenizer.ggml.tokens", tokens)
	f.Set("tokenizer.ggml.scores", make([]float32, len(tokens)))
	f.Set("tokenizer.ggml.token_type", types)
	f.Set("tokenizer.ggml.bos_token_id", uint32(1))
	f.Set("tokenizer.ggml.eos_token_id", uint32(2))
	f.Set("tokenizer.ggml.unknown_token_id", uint32(0))
	f.Set("tokenizer.chat_template", "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:")
	return uint64(len(tokens))
}

func adapter() *gguf.Draft {
	f := &gguf.Draft{}
	f.Set("general.architecture", "llama")
	f.Set("general.type", "adapter")
	f.Set("general.name", "tiny lora")
	f.Set("adapter.type", "lora")
	f.Set("adapter.lora.alpha", float32(2))
	addTensor(f, "blk.0.attn_q.weight.lora_a", width, 2)
	addTensor(f, "blk.0.attn_q.weight.lora_b", 2, width)
	return f
}

// addTensor adds a tensor; the innermost dimension comes first.
func addTensor(f *gguf.Draft, name string, dims ...uint64) {
	n := uint64(1)
	for _, d := range dims {
		n *= d
	}
	numbers := make([]float32, n)
	state := uint32(len(name))
	for i := range numbers {
		state = state*1664525 + 1013904223
		numbers[i] = float32(state>>16)/65536 - 0.5
		if len(dims) == 1 { // of a norm
			numbers[i] = 1
		}
	}
	var data bytes.Buffer
	_ = binary.Write(&data, binary.LittleEndian, numbers) // a buffer takes everything
	f.Tensors = append(f.Tensors, gguf.Weight{Name: name, Dims: dims, Data: data.Bytes()})
}
