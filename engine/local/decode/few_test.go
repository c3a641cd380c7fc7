package decode

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

const orderSchema = `{"type":"object","properties":{"customer":{"type":"string","maxLength":6},"state":{"enum":["open","paid","sent"]},"count":{"type":"integer"},"gift":{"type":"boolean"}},"required":["customer","state","count","gift"],"additionalProperties":false}`

func orderGrammar(t *testing.T) *grammar.Grammar {
	t.Helper()
	n, _, err := grammar.Schema(t.Context(), []byte(orderSchema))
	if err != nil {
		t.Fatal(err)
	}
	g, err := grammar.Compile(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestAllowed: the tokens that are listed are those that the sampler's constraint
// allows, at each place of a text, whichever part of it was walked ahead.
func TestAllowed(t *testing.T) {
	vocab, _, end := pairs(t)
	vocab.Add([]byte("<call>"), KindControl)
	call := int32(vocab.Size() - 1)
	order := orderGrammar(t)
	marked, err := grammar.Compile(t.Context(), grammar.Choice(grammar.Literal("<call>"), grammar.Literal("<no")))
	if err != nil {
		t.Fatal(err)
	}
	few := 0
	for _, tt := range []struct {
		name    string
		grammar *grammar.Grammar
		text    string
		markers []string
	}{
		{"schema", order, `{ "customer":"Ada\n", "state": "paid",` + "\n" + ` "count": -120 , "gift":true}`, nil},
		{"marker", marked, `<call>`, []string{"<call>"}},
		{"marker as text", marked, `<call>`, nil},
	} {
		for at := range len(tt.text) + 1 {
			s := newSampler(vocab, chat.Job{Constraint: tt.grammar.Matcher(), Markers: tt.markers})
			if !s.constraint.Accept([]byte(tt.text[:at/2])) {
				t.Fatalf("%s: %q is not allowed", tt.name, tt.text[:at/2])
			}
			w := s.constraint.Walk()
			if !w.Follow([]byte(tt.text[at/2 : at])) {
				t.Fatalf("%s: %q is not allowed after %q", tt.name, tt.text[at/2:at], tt.text[:at/2])
			}
			x := starts{vocab: vocab}
			x.index()
			got := x.allowed(w, s.markers)
			s.constraint.Accept([]byte(tt.text[at/2 : at]))
			var want []int32
			for token := range int32(vocab.Size()) {
				if s.allows(token) {
					want = append(want, token)
				}
			}
			if got == nil && len(want) > mostFew {
				continue
			}
			few++
			if got == nil || !slices.Equal(got, want) {
				t.Errorf("%s after %q: tokens %v may follow, want %v (%d ends the turn, %d is a marker)", tt.name, tt.text[:at], got, want, end, call)
			}
		}
	}
	if few < 60 {
		t.Errorf("there were few tokens at %d places only", few)
	}
}

// TestExclusiveBias: a bias of 100 leaves no other token, and their logits are not
// computed.
func TestExclusiveBias(t *testing.T) {
	for _, tt := range []struct {
		name string
		bias map[int]float64
		want []int32 // nil: all logits are computed
	}{
		{"none", nil, nil},
		{"too small", map[int]float64{40: 99.5}, nil},
		{"two", map[int]float64{52: 100, 40: 100, 60: 50, 61: -100}, []int32{40, 52}},
	} {
		for _, drafts := range []bool{false, true} {
			c := newCounter(t, 4096)
			b := &sparing{reciter: &reciter{c, periodic(40, 20), 8}, spares: true}
			jobs := func() []chat.Job {
				return []chat.Job{{Prompt: testPrompt(1, 20, 5), MaxTokens: 60, Sampling: engine.Sampling{Temperature: new(1.0), LogitBias: tt.bias, Seed: new(int64(1))}}}
			}
			all, _ := reciteOver(t, b, c, nil, drafts, jobs)
			seen := map[int32]bool{}
			for _, token := range c.texts[int(c.last[0].Sequence)][21:] {
				seen[token] = true
			}
			got := slices.Sorted(maps.Keys(seen))
			if tt.want != nil && !slices.Equal(got, tt.want) || (tt.want == nil) != (b.spared == 0) || len(all[0]) < 60 {
				t.Errorf("%s, guesses: %v: tokens %v in %d pieces, want %v; %d of %d rows were spared", tt.name, drafts, got, len(all[0]), tt.want, b.spared, b.rows)
			}
		}
	}
}

// sparing is a backend that computes only the logits that are wanted.
type sparing struct {
	*reciter
	spares       bool
	rows, spared int // with logits
}

func (b *sparing) Logits(row int) []float32 {
	l := b.reciter.Logits(row)
	b.rows++
	only := b.last[row].Only
	if len(only) == 0 {
		return l
	}
	b.spared++
	if b.spares {
		for i := range l {
			if _, wanted := slices.BinarySearch(only, int32(i)); !wanted {
				l[i] = float32(math.NaN())
			}
		}
	}
	return l
}

// TestLogitsLeftOut: texts do not depend on the logits of tokens that the grammar rules
// out, with guesses or without. Who wants probabilities gets those of all tokens.
func TestLogitsLeftOut(t *testing.T) {
	vocab, encoder, end := pairs(t)
	order := orderGrammar(t)
	tokens, err := encoder.Encode(t.Context(), nil, []tokenizer.Part{{Text: `{"customer": "Ada", "state": "paid", "count": 12, "gift": false}`}}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	prompt := testPrompt(1, 20, 5)
	for _, tt := range []struct {
		name     string
		sure     float32
		sampling engine.Sampling
		logprobs *int
	}{
		{"greedy", 30, engine.Sampling{Temperature: new(0.0)}, nil},
		{"greedy, and ruled out", 0, engine.Sampling{Temperature: new(0.0)}, nil},
		{"sampled", 10, engine.Sampling{Temperature: new(1.0), Seed: new(int64(1))}, nil},
		{"truncated", 5, engine.Sampling{Temperature: new(2.0), TopK: new(30), TopP: new(0.9), MinP: new(0.01), Seed: new(int64(2))}, nil},
		{"typical", 5, engine.Sampling{Temperature: new(1.0), TypicalP: new(0.5), Seed: new(int64(3))}, nil},
		{"with penalties and bias", 5, engine.Sampling{Temperature: new(1.0), FrequencyPenalty: new(0.5), LogitBias: map[int]float64{5: 3, 6: -100}, Seed: new(int64(4))}, nil},
		{"with probabilities", 10, engine.Sampling{Temperature: new(1.0), Seed: new(int64(1))}, new(2)},
	} {
		say := func(spares, drafts bool) ([]chat.Piece, *sparing) {
			c := newCounter(t, 4096)
			c.vocab = vocab
			b := &sparing{reciter: &reciter{c, func(position int) int32 {
				if at := position - len(prompt); at >= 0 && at < len(tokens) {
					return tokens[at]
				}
				return end
			}, tt.sure}, spares: spares}
			jobs := func() []chat.Job {
				return []chat.Job{{Prompt: prompt, MaxTokens: 60, Constraint: order.Matcher(), Sampling: tt.sampling, Logprobs: tt.logprobs}}
			}
			all, _ := reciteOver(t, b, c, encoder, drafts, jobs)
			return all[0], b
		}
		want, _ := say(false, false)
		for _, drafts := range []bool{false, true} {
			got, b := say(true, drafts)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(chat.Piece{}, "Cached")); diff != "" {
				t.Errorf("%s, guesses: %v: -with all logits +with those that are wanted:\n%s", tt.name, drafts, diff)
			}
			if all := tt.logprobs != nil; all != (b.spared == 0) || !all && b.spared*4 < b.rows {
				t.Errorf("%s, guesses: %v: %d of %d rows were spared", tt.name, drafts, b.spared, b.rows)
			}
		}
	}
}
