//go:build llamacpp && cgo

package llamacpp

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine/chat/chattest"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
)

// realModels are those whose vocabularies tests read.
var realModels = []string{"smollm2-135m", "qwen2.5-coder-0.5b", "gemma3-270m", "minilm"}

// openVocabulary opens a model file as far as its tokens go.
func openVocabulary(t testing.TB, path string) (*decode.Model, bothTokenizers) {
	t.Helper()
	b := openBoth(t, path)
	file, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	vocab, err := b.theirs.vocabulary()
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := b.theirs.newTokenizer(path, file, vocab)
	if err != nil {
		t.Fatal(err)
	}
	return decode.New(decode.Config{Info: describe(path, time.Unix(0, 0), file, vocab, 1<<20), Vocabulary: vocab, Tokenizer: encoder}), b
}

// TestControlTokensOfRealModels: nothing that a client sends to a real model,
// in any place of a request, becomes one of its control tokens. It goes the
// whole way from the request to the tokens.
func TestControlTokensOfRealModels(t *testing.T) {
	for _, name := range realModels[:3] {
		t.Run(name, func(t *testing.T) {
			m, b := openVocabulary(t, modelFile(t, name))
			subject := chattest.Subject{Info: m.Info(), Vocabulary: b.vocabulary, Spell: func(token int32) string { return string(m.Vocabulary().Bytes(token)) }, Whole: true}
			subject.Tokenize = func(ctx context.Context, prompt prompt.Prompt) ([]int32, error) {
				tokens, err := m.Tokenize(ctx, prompt)
				if err == nil && m.Vocabulary().AddBOS && !strings.HasPrefix(prompt.String(), m.Info().BOS) {
					tokens = tokens[1:]
				}
				return tokens, err
			}
			subject.Info.Template = cmp.Or(m.Info().Template, "{% for m in messages %}<start_of_turn>{{ m.role }}\n{{ m.content }}<end_of_turn>\n{% endfor %}<start_of_turn>model\n")
			chattest.Check(t, subject, 40)
		})
	}
}

// TestSpellingsCostNothing: the spelling of a control token takes as many tokens
// in a text as llama.cpp makes of it where it reads it as text.
func TestSpellingsCostNothing(t *testing.T) {
	for _, name := range realModels {
		t.Run(name, func(t *testing.T) {
			m, b := openVocabulary(t, modelFile(t, name))
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 400 {
				text := "hello " + m.Info().Control[i%len(m.Info().Control)] + " world"
				if i >= len(m.Info().Control) {
					text = chattest.Hostile(r, m.Info().Control)
				}
				ours, err := m.Tokenizer().Encode(t.Context(), nil, []tokenizer.Part{{Text: text}}, math.MaxInt)
				if err != nil {
					t.Fatal(err)
				}
				if structured(m, ours, b.vocabulary.Unknown) {
					t.Errorf("%q has control tokens in it: %d", text, ours)
				}
				theirs, err := b.theirs.tokenize(text, false, false)
				if err != nil {
					t.Fatal(err)
				}
				if !structured(m, theirs, b.vocabulary.Unknown) && !slices.Equal(ours, theirs) {
					t.Errorf("%q: %d tokens, and %d by llama.cpp", text, len(ours), len(theirs))
				}
			}
		})
	}
}

// structured reports whether there are control tokens among these.
func structured(m *decode.Model, tokens []int32, unknown int32) bool {
	return slices.ContainsFunc(tokens, func(token int32) bool {
		return token != unknown && m.Vocabulary().Is(token, decode.KindControl|decode.KindUser) && strings.TrimSpace(string(m.Vocabulary().Bytes(token))) != ""
	})
}
