//go:build llamacpp && cgo

package llamacpp

import (
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
)

// newTokenizer returns our tokenizer, or llama.cpp's for models that package
// tokenizer does not support.
func (w *weights) newTokenizer(path string, file *gguf.File, vocab *decode.Vocabulary) (*tokenizer.Tokenizer, error) {
	v, err := tokenizer.Read(path, file)
	if err != nil {
		return nil, err
	}
	if len(v.Texts) != vocab.Size() {
		return nil, fmt.Errorf("the file has %d tokens, and llama.cpp %d", len(v.Texts), vocab.Size())
	}
	for i, kind := range vocab.Kinds {
		// Never let text become a token that llama.cpp holds for special.
		switch {
		case kind&decode.KindUser != 0:
			v.Kinds[i] = tokenizer.UserDefined
		case kind&decode.KindControl != 0 && v.Kinds[i] != tokenizer.Unknown:
			v.Kinds[i] = tokenizer.Control
		}
	}
	t, err := tokenizer.New(v)
	if errors.Is(err, tokenizer.ErrKind) {
		return tokenizer.NewForeign(v, func(text string) ([]int32, error) { return w.tokenize(text, false, false) })
	}
	return t, err
}
