package tokenizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// Vocabulary is the tokens of a model, as its file has them.
type Vocabulary struct {
	Model string // the kind of the tokenizer: gpt2, llama, bert, …
	Pre   string // the name of the pre-tokenizer, of gpt2 alone

	Texts  []string // of each token, in the tokenizer's own writing
	Kinds  []Kind
	Scores []float64 // of llama: the higher, the earlier it is merged
	Merges []string  // of gpt2, in their order

	AddSpace bool // of llama: a text that begins, or follows a special token, gets a blank in front
	Unknown  int32

	stripBefore, stripBehind func(spelling string) bool
}

// The keys of a file's metadata.
const (
	keyPrefix = "tokenizer.ggml."
	keyTexts  = keyPrefix + "tokens"
	keyKinds  = keyPrefix + "token_type"
	keyScores = keyPrefix + "scores"
	keyMerges = keyPrefix + "merges"
)

// maxTokens bounds a vocabulary: token ids are 32 bits wide, and real ones have
// 300,000.
const maxTokens = 1 << 24

// Read reads the vocabulary of the file at path, whose head is file. The error
// is for the log.
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
		case v.Texts[i] == "": // llama.cpp gives it a made-up name
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

// Special returns the spellings of the tokens that are structure, sorted: those
// that are of white space alone are not, they are text like any other.
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

// blank reports whether a spelling is of white space alone.
func blank(spelling string) bool { return strings.TrimSpace(spelling) == "" }

// check looks at what a caller may have made.
func (v *Vocabulary) check() error {
	if len(v.Kinds) != len(v.Texts) || len(v.Texts) == 0 || len(v.Texts) > maxTokens {
		return fmt.Errorf("%d tokens and %d kinds of them", len(v.Texts), len(v.Kinds))
	}
	if v.Model == "llama" && len(v.Scores) < len(v.Texts) {
		return errors.New("the tokens have no scores")
	}
	return nil
}
