//go:build llamacpp && cgo

package llamacpp

import (
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/gguf"
)

// encoder makes what turns text into tokens. llama.cpp's own code does it for
// the kinds of tokenizers that package tokenizer lacks.
func (w *weights) encoder(path string, file *gguf.File, vocab *vocabulary) (*tokenizer.Tokenizer, error) {
	v, err := tokenizer.Read(path, file)
	if err != nil {
		return nil, err
	}
	if len(v.Texts) != vocab.size() {
		return nil, fmt.Errorf("the file has %d tokens, and llama.cpp %d", len(v.Texts), vocab.size())
	}
	for i, kind := range vocab.kinds {
		// What llama.cpp takes for structure no text becomes, even where ours knows better.
		switch {
		case kind&kindUser != 0:
			v.Kinds[i] = tokenizer.UserDefined
		case kind&kindControl != 0 && v.Kinds[i] != tokenizer.Unknown:
			v.Kinds[i] = tokenizer.Control
		}
	}
	t, err := tokenizer.New(v)
	if errors.Is(err, tokenizer.ErrKind) {
		return tokenizer.NewForeign(v, func(text string) ([]int32, error) { return w.tokenize(text, false, false) })
	}
	return t, err
}
