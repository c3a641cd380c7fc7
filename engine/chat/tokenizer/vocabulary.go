package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// Vocabulary is the vocabulary of a GGUF file.
type Vocabulary struct {
	Model string // tokenizer.ggml.model: gpt2, llama, bert, …
	Pre   string // pre-tokenizer, for gpt2

	Texts  []string // in the tokenizer's encoding
	Kinds  []Kind
	Scores []float64 // for llama: higher ones merge first
	Merges []string  // for gpt2, in order

	AddSpace bool // for llama: prepend a space at the start and after special tokens
	Unknown  int32

	stripBefore, stripBehind func(spelling string) bool
}

const (
	keyPrefix = "tokenizer.ggml."
	keyTexts  = keyPrefix + "tokens"
	keyKinds  = keyPrefix + "token_type"
	keyScores = keyPrefix + "scores"
	keyMerges = keyPrefix + "merges"
)

// maxTokens limits a vocabulary. Real ones have up to 300,000 tokens.
const maxTokens = 1 << 24

// Read reads the vocabulary of the file at path, with the given header. Errors are for
// the log.
func Read(path string, file *gguf.File) (*Vocabulary, error) {
	arrays, err := gguf.ReadArrays(path, keyTexts, keyKinds, keyScores, keyMerges)
	if err != nil {
		return nil, fmt.Errorf("read the vocabulary: %w", err)
	}
	v := &Vocabulary{
		Model:   file.String(keyPrefix + "model"),
		Pre:     file.String(keyPrefix + "pre"),
		Texts:   arrays[keyTexts].Strings,
		Scores:  arrays[keyScores].Numbers,
		Merges:  arrays[keyMerges].Strings,
		Unknown: -1,
	}
	if n := len(v.Texts); n == 0 || n > maxTokens {
		return nil, fmt.Errorf("the vocabulary has %d tokens", n)
	}
	v.readKinds(arrays[keyKinds].Numbers)
	v.overrule(func(key string) (int, bool) {
		id, ok := file.Int(keyPrefix + key)
		return int(id), ok && id >= 0 && id < int64(len(v.Texts))
	})
	v.readFlags(file)
	v.strips(file.String("general.name"), file.Architecture())
	return v, nil
}

func (v *Vocabulary) readKinds(numbers []float64) {
	v.Kinds = make([]Kind, len(v.Texts))
	for i := range v.Kinds {
		switch {
		case v.Texts[i] == "": // llama.cpp makes up a text
		case numbers == nil:
			v.Kinds[i] = Normal
		case i < len(numbers) && numbers[i] >= 0 && numbers[i] <= float64(Byte):
			v.Kinds[i] = Kind(numbers[i])
		}
	}
}

func (v *Vocabulary) readFlags(file *gguf.File) {
	switch v.Model {
	case "llama":
		v.AddSpace, v.Unknown = true, 0
	case "bert":
		v.Unknown = 100
	}
	if add, ok := file.Bool(keyPrefix + "add_space_prefix"); ok {
		v.AddSpace = add
	}
	if id, ok := file.Int(keyPrefix + "unknown_token_id"); ok && id >= 0 && id < int64(len(v.Texts)) {
		v.Unknown = int32(id)
	}
	if int(v.Unknown) >= len(v.Texts) {
		v.Unknown = -1
	}
}

// Special returns the texts of special tokens, sorted. White space is not special.
func (v *Vocabulary) Special() []string {
	var all []string
	for i, text := range v.Texts {
		if v.Kinds[i].special() && !blank(text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// blank reports whether a text is only white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }

func (v *Vocabulary) check() error {
	if len(v.Kinds) != len(v.Texts) || len(v.Texts) == 0 || len(v.Texts) > maxTokens {
		return fmt.Errorf("%d tokens and %d token types", len(v.Texts), len(v.Kinds))
	}
	if v.Model == "llama" && len(v.Scores) < len(v.Texts) {
		return errors.New("the tokens have no scores")
	}
	return nil
}
