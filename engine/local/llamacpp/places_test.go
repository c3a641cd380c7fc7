//go:build llamacpp && cgo

package llamacpp

import (
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

// TestTableOfPlaces has all models with a table of the places in a text, in which
// llama.cpp looks beyond the end, and ends the process: a context that goes on
// behind it is cut.
func TestTableOfPlaces(t *testing.T) {
	recipes, err := inspectiontest.Recipes(1)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, r := range recipes {
		parts := made(t, r)
		if !strings.HasSuffix(r.Name, " with all") || !strings.Contains(names(parts), "position_embd") {
			continue
		}
		tried++
		m, err := Open(t.Context(), Options{Path: written(t, parts), Context: 1000, Threads: 1, Parallel: 1})
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if m.Info().Context != 256 {
			t.Errorf("%s: context %d, and the table has 256 places", r.Name, m.Info().Context)
		}
		if !m.Info().Vectors.Only {
			whole, err := answerOf(t.Context(), m, chat.Job{Prompt: make([]int32, 250), MaxTokens: 500})
			if err != nil || len(whole.pieces) > 6 {
				t.Errorf("%s: %d tokens behind 250, error %v", r.Name, len(whole.pieces), err)
			}
			if _, err = answerOf(t.Context(), m, chat.Job{Prompt: make([]int32, 300), MaxTokens: 1}); engine.AsError(err).Code != engine.CodeContextLength {
				t.Errorf("%s: error %v", r.Name, err)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if tried < 4 {
		t.Errorf("%d models have such a table", tried)
	}
}

func names(parts *gguf.Draft) string {
	var all []string
	for _, tensor := range parts.Tensors {
		all = append(all, tensor.Name)
	}
	return strings.Join(all, " ")
}
