package ask

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/gguf"
)

// Writer writes prompts of exact lengths, different for every key.
type Writer struct {
	seed  uint64
	count func(text string) (int, error)
}

// NewWriter returns a Writer that counts the tokens of a model; without a file it counts
// words, as scripts do.
func NewWriter(path string, seed uint64) (*Writer, error) {
	if path == "" {
		return &Writer{seed, func(text string) (int, error) { return len(strings.Fields(text)), nil }}, nil
	}
	file, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	vocabulary, err := tokenizer.Read(path, file)
	if err != nil {
		return nil, err
	}
	encoder, err := tokenizer.New(vocabulary)
	if err != nil {
		return nil, err
	}
	return &Writer{seed, func(text string) (int, error) {
		tokens, err := encoder.Encode(context.Background(), nil, []tokenizer.Part{{Text: text}}, math.MaxInt32)
		return len(tokens), err
	}}, nil
}

// words are common, so that each is a token in most vocabularies.
const words = `time year people way day man thing woman life child world school state family student group country problem hand part place case week company
system program question work government number night point home water room mother area money story fact month lot right study book eye job word business issue
side kind head house service friend father power hour game line end member law car city community name president team minute idea body information back parent
face others level office door health person art war history party result change morning reason research girl guy moment air teacher force education good new
first last long great little own other old big high different small large next early young important few public bad same able said made went took came saw knew`

// Random is a source of numbers for a key.
func (w *Writer) Random(key string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(key))
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

// Text returns a text of a number of tokens, made of common words.
func (w *Writer) Text(key string, tokens int) (string, error) {
	random, all := w.Random(key), strings.Fields(words)
	var chosen []string
	text := func(n int) string { return strings.Join(chosen[:n], " ") }
	for range tokens {
		chosen = append(chosen, all[random.IntN(len(all))])
	}
	// A word may have more tokens than one: as many words as fit.
	least, most := 0, tokens
	for least < most {
		middle := (least + most + 1) / 2
		n, err := w.count(text(middle))
		if err != nil {
			return "", err
		}
		if n <= tokens {
			least = middle
		} else {
			most = middle - 1
		}
	}
	// What is missing is less than a word has.
	made := text(least)
	n, err := w.count(made)
	for ; err == nil && n < tokens; n, err = w.count(made) {
		made += " and"
		if len(made) > 100*tokens {
			return "", fmt.Errorf("no text of %d tokens", tokens)
		}
	}
	return made, err
}
