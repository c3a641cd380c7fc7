package main

import (
	"path/filepath"
	"strings"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/report"
)

// model is a file that all servers serve under one name.
type model struct {
	name, file string
	script     bool // plays a script, which diglot alone can: texts and embeddings
	embeds     bool // makes embeddings, not text
	about      report.Model
	bias       map[string]float64 // forbids control tokens, so that texts have the same length
	writer     *ask.Writer
}

// openModel reads what the benchmark needs of a file.
func openModel(name, file string, seed uint64) (model, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return model{}, err
	}
	m := model{name: name, file: file, about: report.Model{Name: name}}
	if ending := filepath.Ext(file); ending == ".yaml" || ending == ".yml" {
		m.script = true
		m.writer, err = ask.NewWriter("", seed)
		return m, err
	}
	header, err := gguf.Open(file)
	if err != nil {
		return m, err
	}
	m.embeds, _ = header.Embeds()
	m.about = describe(name, header)
	vocabulary, err := tokenizer.Read(file, header)
	if err != nil {
		return m, err
	}
	m.bias = forbidden(vocabulary, header)
	m.writer, err = ask.NewWriter(file, seed)
	return m, err
}

// maxForbidden is how many control tokens are forbidden by name; of more, only those that
// end a text.
const maxForbidden = 64

func forbidden(v *tokenizer.Vocabulary, header *gguf.File) map[string]float64 {
	bias := map[string]float64{}
	for id, kind := range v.Kinds {
		if kind == tokenizer.Control {
			bias[itoa(int64(id))] = -100
		}
	}
	if len(bias) <= maxForbidden {
		return bias
	}
	bias = map[string]float64{}
	for _, key := range []string{"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"} {
		if id, ok := header.Int(key); ok {
			bias[itoa(id)] = -100
		}
	}
	return bias
}

// describe counts what a token takes. All matrices are read for each generated token, but
// of the embeddings of tokens only a row, unless they are the output matrix too; and that
// one is multiplied for the last token of a prompt alone.
func describe(name string, header *gguf.File) report.Model {
	m := report.Model{Name: name, Quantization: header.Quantization(), Bytes: header.Size, Parameters: header.Parameters()}
	var embeddings, output int64
	for _, t := range header.Tensors {
		switch {
		case t.Name == "token_embd.weight":
			embeddings = t.Bytes
		case t.Name == "output.weight":
			output = t.Bytes
		case len(t.Dims) > 1 && strings.HasPrefix(t.Name, "blk."):
			m.Multiplications += t.Elements
			m.ReadPerToken += t.Bytes
		default:
			m.ReadPerToken += t.Bytes
		}
	}
	m.ReadPerToken += output
	if output == 0 {
		m.ReadPerToken += embeddings
	}
	layers, _ := header.Int(header.Key("block_count"))
	width, _ := header.Int(header.Key("embedding_length"))
	m.AttentionFactor = 2 * layers * width // keys and values
	return m
}
