package decode

import (
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// TestTokenizeStops: a prompt far above the context is rejected early; one that
// is slightly above is counted to its end.
func TestTokenizeStops(t *testing.T) {
	const context = 100
	end := prompt.Span{Text: "<end>", Special: true}
	tests := []struct {
		name   string
		spans  []prompt.Span
		tokens int // wanted; 0: an error
	}{
		{"short", []prompt.Span{{Text: "abc"}}, 3},
		{"too long, and counted", []prompt.Span{{Text: strings.Repeat("a", 200)}}, 200},
		{"far too long", []prompt.Span{{Text: strings.Repeat("a", 1<<20)}}, 0},
		{"far too long, of two bytes each", []prompt.Span{{Text: strings.Repeat("ä", 1<<20)}}, 0},
		{"far too many texts", slices.Repeat([]prompt.Span{{Text: "a"}, {Text: "<end>"}}, 5000), 0},
		{"far too many control tokens", slices.Repeat([]prompt.Span{end}, 5000), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read := 0
			encoder, err := tokenizer.NewForeign(&tokenizer.Vocabulary{Texts: []string{"<end>", "a"}, Kinds: []tokenizer.Kind{tokenizer.Control, tokenizer.Normal}},
				func(text string) ([]int32, error) {
					read += len(text)
					return slices.Repeat([]int32{1}, len([]rune(text))), nil
				})
			if err != nil {
				t.Fatal(err)
			}
			m := &Model{info: chat.Info{Context: context}, vocab: letters(), tokenizer: encoder}
			tokens, err := m.Tokenize(t.Context(), prompt.Prompt{Spans: tt.spans})
			if read > 1<<16 {
				t.Errorf("%d bytes were read", read)
			}
			if tt.tokens > 0 {
				if err != nil || len(tokens) != tt.tokens {
					t.Errorf("%d tokens, %v; want %d", len(tokens), err, tt.tokens)
				}
				return
			}
			e := engine.AsError(err)
			if e == nil || e.Code != engine.CodeContextLength || e.Tokens < 2*context || e.Limit != context {
				t.Errorf("error %v, want context_length with at least %d tokens", err, 2*context)
			}
		})
	}
}
