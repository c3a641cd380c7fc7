//go:build llamacpp && cgo

package llamacpp

import (
	_ "embed"
	flags "flag" // the package has a type flag
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/decode"
)

// long has the tests that compare results take more prompts and models, and compute
// with llama.cpp's kernels what is otherwise known.
var long = flags.Bool("long", false, "compare more, in half an hour")

// passage has prose, code, data and several scripts.
//
//go:embed testdata/passage.txt
var passage string

// perplexities of the passage were computed by llama.cpp of October 2026, with its own
// tokenizer and kernels, in batches of 64 tokens on a processor with AVX-512.
//
// Computed from the same weights as 32-bit floats, so that no activation is rounded to 8
// bits, those of the first two are 12.53668 and 11.32317.
var perplexities = []struct {
	model      string
	tokens     int
	perplexity float64
}{
	{"smollm2-135m", 1913, 12.52658},
	{"gemma3-270m", 1713, 11.39603},
	{"qwen2.5-coder-0.5b", 1695, 14.89121},
}

// allowed is how far two perplexities of so many tokens may be apart, as a share: 0.3 %,
// and what rounding does alone, in most cases. It makes log-probabilities of a token
// differ by 0.1, in any direction (by 0.09, 0.13 and 0.07 with these models).
func allowed(tokens int) float64 { return 0.003 + 2*0.1/math.Sqrt(float64(tokens)) }

// perplexityOf reads texts, each by itself.
func perplexityOf(t *testing.T, m *decode.Model, texts []string) (perplexity float64, tokens int) {
	t.Helper()
	var sum float64
	var known int
	for _, text := range texts {
		prompt := tokenize(t, m, text)
		scores, err := m.Score(t.Context(), chat.Job{Prompt: prompt, Logprobs: new(0)})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scores[1:] { // the first has none
			sum += s.Logprob
		}
		known += len(scores) - 1
		tokens += len(scores)
	}
	return math.Exp(-sum / float64(known)), tokens
}

// TestPerplexity: with our kernels a model knows a text as well as with llama.cpp's.
func TestPerplexity(t *testing.T) {
	for _, want := range perplexities {
		t.Run(want.model, func(t *testing.T) {
			options := Options{Path: modelFile(t, want.model), Threads: 1, Context: 3072, Parallel: 1}
			m := openModel(t, options)
			got, tokens := perplexityOf(t, m, []string{passage})
			if tokens != want.tokens {
				t.Fatalf("%d tokens, want %d", tokens, want.tokens)
			}
			comparePerplexities(t, got, want.perplexity, tokens)
			if !*long {
				return
			}
			texts := documents(t)
			got, tokens = perplexityOf(t, m, texts)
			m.Close()
			options.Kernels = KernelsGGML
			theirs, _ := perplexityOf(t, openModel(t, options), texts)
			comparePerplexities(t, got, theirs, tokens)
		})
	}
}

func comparePerplexities(t *testing.T, got, want float64, tokens int) {
	t.Helper()
	share := got/want - 1
	t.Logf("%d tokens: %.5f, with llama.cpp's kernels %.5f: %+.3f %%", tokens, got, want, 100*share)
	if !(math.Abs(share) <= allowed(tokens)) {
		t.Errorf("%d tokens: %.5f, with llama.cpp's kernels %.5f: more than %.2f %% apart", tokens, got, want, 100*allowed(tokens))
	}
}

// documents are pieces of some that lie beside the code.
func documents(t *testing.T) []string {
	t.Helper()
	var pieces []string
	for _, name := range []string{"ARCHITECTURE.md", "SECURITY.md", "README.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		for piece := range slices.Chunk(text, 6000) {
			pieces = append(pieces, strings.ToValidUTF8(string(piece), ""))
		}
	}
	return pieces
}
