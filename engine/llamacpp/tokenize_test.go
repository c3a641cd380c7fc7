package llamacpp

import (
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// TestTokenizeStops: a prompt that is far too long is refused before all of
// it is read; one that is only too long is counted to its end.
func TestTokenizeStops(t *testing.T) {
	const context = 100
	tests := []struct {
		name    string
		spans   []chat.Span
		tokens  int // wanted; 0: an error
		atLeast int // that the error counts
		most    int // bytes to be read
	}{
		{"short", []chat.Span{{Text: "abc"}}, 3, 0, 3},
		{"too long, and counted", []chat.Span{{Text: strings.Repeat("a", 200)}}, 200, 0, 200},
		{"far too long", []chat.Span{{Text: strings.Repeat("a", 1<<20)}}, 0, 200, 1600},
		{"far too long, of two bytes each", []chat.Span{{Text: strings.Repeat("ä", 1<<20)}}, 0, 200, 1600},
		{"far too many spans", slices.Repeat([]chat.Span{{Text: "a"}, {Text: "<end>", Plain: true}}, 5000), 0, 200, 1600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read := 0
			m := &Model{info: chat.Info{Context: context}, vocab: letters(), tokenize: func(text string) ([]int32, error) {
				read += len(text)
				return make([]int32, len([]rune(text))), nil
			}}
			tokens, err := m.Tokenize(t.Context(), chat.Prompt{Spans: tt.spans})
			if read > tt.most {
				t.Errorf("%d bytes were read, want %d at most", read, tt.most)
			}
			if tt.tokens > 0 {
				if err != nil || len(tokens) != tt.tokens {
					t.Errorf("%d tokens, %v; want %d", len(tokens), err, tt.tokens)
				}
				return
			}
			e := engine.AsError(err)
			if e == nil || e.Code != engine.CodeContextLength || e.Tokens < tt.atLeast || e.Limit != context {
				t.Errorf("error %v, want context_length with at least %d tokens", err, tt.atLeast)
			}
		})
	}
}
