package decode

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/chat/tokenizer/tokenizertest"
)

// reciter is a backend whose model prefers the tokens of one text, and else what
// depends on the last two tokens.
type reciter struct {
	*counter
	favourite func(position int) int32
	sure      float32 // how much it prefers them
}

func (r *reciter) Logits(row int) []float32 {
	e := r.last[row]
	if !e.Logits {
		r.t.Errorf("logits of row %d, which did not want them", row)
	}
	text := r.texts[int(e.Sequence)][:e.Position+1] // a guess included
	l := noise(uint64(text[len(text)-1])<<20|uint64(text[max(0, len(text)-2)]), r.vocab.Size())
	l[r.favourite(int(e.Position)+1)] += r.sure
	return l
}

// reciting is a model over r, with guesses or not.
func reciting(t *testing.T, r *reciter, encoder *tokenizer.Tokenizer, drafts bool) *Model {
	return modelOver(t, r, r.counter, encoder, drafts)
}

// modelOver is a model over a backend that is made of c.
func modelOver(t *testing.T, b Backend, c *counter, encoder *tokenizer.Tokenizer, drafts bool) *Model {
	m := New(Config{
		Info:       chat.Info{Context: 1024},
		Vocabulary: c.vocab,
		Tokenizer:  encoder,
		Text:       &Text{Backend: b, Parallel: 4, Cells: c.capacity, Draft: drafts},
		Free:       func() {},
		Log:        slog.New(slog.DiscardHandler),
	})
	t.Cleanup(func() { m.Close() })
	return m
}

// periodic repeats the tokens from first on.
func periodic(first, period int32) func(int) int32 {
	return func(position int) int32 { return first + int32(position)%period }
}

// recite returns all pieces of each job, and what the model counted.
func recite(t *testing.T, r *reciter, encoder *tokenizer.Tokenizer, drafts bool, jobs func() []chat.Job) (all [][]chat.Piece, stats Stats) {
	t.Helper()
	return reciteOver(t, r, r.counter, encoder, drafts, jobs)
}

func reciteOver(t *testing.T, b Backend, c *counter, encoder *tokenizer.Tokenizer, drafts bool, jobs func() []chat.Job) (all [][]chat.Piece, stats Stats) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c.t = t
		m := modelOver(t, b, c, encoder, drafts)
		todo := jobs()
		all = make([][]chat.Piece, len(todo))
		done := make(chan error)
		for i, job := range todo {
			go func() {
				var err error
				for p, e := range m.Decode(context.Background(), job) {
					if err = e; e == nil {
						all[i] = append(all[i], p)
					}
				}
				done <- err
			}()
		}
		for range todo {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		stats = m.Stats()
		m.Close()
	})
	return all, stats
}

// TestDraftsChangeNothing: texts, probabilities and the cache afterwards are the
// same with guesses and without.
func TestDraftsChangeNothing(t *testing.T) { eachWay(t, testDraftsChangeNothing) }

func testDraftsChangeNothing(t *testing.T, independent bool) {
	with := func(change func(*chat.Job)) func() []chat.Job {
		return func() []chat.Job {
			job := chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 150, Logprobs: new(2)}
			change(&job)
			return []chat.Job{job}
		}
	}
	seeded := func(s engine.Sampling) func() []chat.Job {
		return with(func(j *chat.Job) { s.Seed = new(int64(7)); j.Sampling = s })
	}
	for _, tt := range []struct {
		name  string
		sure  float32
		jobs  func() []chat.Job
		saves bool // steps
	}{
		{"greedy", 40, with(func(*chat.Job) {}), true},
		{"greedy, and often wrong", 12, with(func(*chat.Job) {}), false},
		{"sampled", 20, seeded(engine.Sampling{Temperature: new(1.5)}), false},
		{"truncated", 20, seeded(engine.Sampling{Temperature: new(2.0), TopK: new(20), TopP: new(0.9), MinP: new(0.05)}), false},
		{"with penalties", 30, seeded(engine.Sampling{Temperature: new(1.0), FrequencyPenalty: new(0.2), PresencePenalty: new(0.1), RepeatPenalty: new(1.05), RepeatLastN: new(64)}), false},
		{"as many as allowed", 40, with(func(j *chat.Job) { j.MaxTokens = 33 }), false},
		{"until the context is full", 40, with(func(j *chat.Job) { j.MaxTokens = 5000 }), true},
		{"several choices", 20, func() []chat.Job {
			jobs := choicesOf(3, chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 80})
			for i := range jobs {
				jobs[i].Sampling = engine.Sampling{Temperature: new(1.5), Seed: new(int64(i))}
			}
			return jobs
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := func() *reciter {
				c := newCounter(t, 4096)
				c.independent = independent
				return &reciter{c, periodic(100, 12), tt.sure}
			}
			want, plain := recite(t, model(), nil, false, tt.jobs)
			got, stats := recite(t, model(), nil, true, tt.jobs)
			// Which of several choices reads the prompt is chance.
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(chat.Piece{}, "Cached")); diff != "" {
				t.Errorf("-without +with guesses:\n%s", diff)
			}
			if plain.FreeCells != stats.FreeCells || plain.Generated != stats.Generated || plain.Prefilled != stats.Prefilled {
				t.Errorf("without guesses %+v, with them %+v", plain, stats)
			}
			if stats.Drafted == 0 || tt.saves && stats.Steps*3 > plain.Steps {
				t.Errorf("%d steps with guesses, %d of %d held; %d steps without", stats.Steps, stats.Held, stats.Drafted, plain.Steps)
			}
		})
	}
}

// TestDraftOfAPrompt: what the prompt says is copied in few steps.
func TestDraftOfAPrompt(t *testing.T) {
	text := testPrompt(3, 200, 7)
	job := chat.Job{Prompt: slices.Concat(text, text[:8]), MaxTokens: 190}
	r := &reciter{newCounter(t, 4096), func(position int) int32 { return text[(position-len(text)+len(text))%len(text)] }, 40}
	got, stats := recite(t, r, nil, true, func() []chat.Job { return []chat.Job{job} })
	if len(got[0]) != 191 {
		t.Errorf("%d pieces, want 191", len(got[0]))
	}
	if stats.Steps > 30 {
		t.Errorf("%d steps for 190 tokens of the prompt, %d of %d held", stats.Steps, stats.Held, stats.Drafted)
	}
}

// TestNoDrafts: models whose state cannot be truncated get no guesses.
func TestNoDrafts(t *testing.T) {
	c := newCounter(t, 4096)
	c.sharing = false
	_, stats := recite(t, &reciter{c, periodic(100, 5), 40}, nil, true, func() []chat.Job {
		return []chat.Job{{Prompt: testPrompt(1, 20, 5), MaxTokens: 100}}
	})
	if stats.Drafted != 0 || stats.Steps < 100 {
		t.Errorf("%d tokens were guessed, %d steps", stats.Drafted, stats.Steps)
	}
}

// TestLeaveDrafts: a client that leaves between two tokens of one step, as at a stop
// string, or while the step runs, leaves nothing behind.
func TestLeaveDrafts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		leave func(cancel func()) (stop bool)
	}{
		{"stops reading", func(func()) bool { return true }},
		{"context ends", func(cancel func()) bool { cancel(); return false }},
	} {
		for after := 1; after < 60; after++ {
			synctest.Test(t, func(t *testing.T) {
				r := &reciter{newCounter(t, 4096), periodic(100, 6), 40}
				m := reciting(t, r, nil, true)
				ctx, cancel := context.WithCancel(t.Context())
				n := 0
				for range m.Decode(ctx, chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 200}) {
					if n++; n == after && tt.leave(cancel) {
						break
					}
				}
				cancel()
				synctest.Wait()
				s := m.Stats()
				held := 0
				for _, cells := range r.cells {
					held += len(cells)
				}
				if s.Running != 0 || s.FreeCells != 4096-held {
					t.Errorf("%s after %d: %+v, and the backend has %d cells", tt.name, after, s, held)
				}
				again := collect(t.Context(), m, chat.Job{Prompt: testPrompt(1, 20, 5), MaxTokens: 30})
				if again.err != nil || len(again.text) != 30 {
					t.Errorf("%s after %d: then %q, %v", tt.name, after, again.text, again.err)
				}
				m.Close()
			})
		}
	}
}

// pairs is a vocabulary of byte pairs, with its tokenizer; the token returned ends
// the turn.
func pairs(t *testing.T) (*Vocabulary, *tokenizer.Tokenizer, int32) {
	t.Helper()
	of := tokenizertest.BPE("gpt-2", tokenizertest.Control("<end>")...)
	encoder, err := tokenizer.New(of)
	if err != nil {
		t.Fatal(err)
	}
	v, spell, end := &Vocabulary{BOS: -1, EOS: 0}, tokenizertest.Speller(of), int32(-1)
	for i, text := range of.Texts {
		kind := Kind(0)
		if text == "<end>" {
			kind, end = KindControl|KindEndOfTurn, int32(i)
		}
		v.Add([]byte(spell(int32(i))), kind)
	}
	return v, encoder, end
}

// TestForcedText: what a schema leaves no choice about takes no step per token, and the
// text is what the model would have said anyway.
func TestForcedText(t *testing.T) {
	vocab, encoder, end := pairs(t)
	const schema = `{"type":"object","properties":{"first_name":{"type":"string"},"country_of_residence":{"const":"The Kingdom of Norway"},"years":{"type":"integer"}},"required":["first_name","country_of_residence","years"],"additionalProperties":false}`
	n, _, err := grammar.Schema(t.Context(), []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	g, err := grammar.Compile(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, text string
		most       int // steps, as a share of those without guesses
	}{
		{"one line", `{"first_name": "Ada", "country_of_residence": "The Kingdom of Norway", "years": 42}`, 40},
		{"several lines", "{\n  \"first_name\": \"Ada\",\n  \"country_of_residence\": \"The Kingdom of Norway\",\n  \"years\": 42\n}", 60},
		{"dense", `{"first_name":"Ada","country_of_residence":"The Kingdom of Norway","years":42}`, 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tokens, err := encoder.Encode(t.Context(), nil, []tokenizer.Part{{Text: tt.text}}, 1000)
			if err != nil {
				t.Fatal(err)
			}
			prompt := testPrompt(1, 20, 5)
			model := func(independent bool) *reciter {
				c := newCounter(t, 4096)
				c.vocab, c.independent = vocab, independent
				return &reciter{c, func(position int) int32 {
					if at := position - len(prompt); at >= 0 && at < len(tokens) {
						return tokens[at]
					}
					return end
				}, 60}
			}
			jobs := func() []chat.Job {
				return []chat.Job{{Prompt: prompt, MaxTokens: 200, Constraint: g.Matcher(), Logprobs: new(1)}}
			}
			want, plain := recite(t, model(true), encoder, false, jobs)
			got, stats := recite(t, model(true), encoder, true, jobs)
			if _, two := recite(t, model(false), encoder, true, jobs); stats.Held < two.Held-1 || stats.Steps > two.Steps { // the first token may be guessed there
				t.Errorf("%d of %d held in %d steps; where the last token of the prompt comes alone %d of %d in %d", stats.Held, stats.Drafted, stats.Steps, two.Held, two.Drafted, two.Steps)
			}
			// Which of several choices reads the prompt is chance.
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(chat.Piece{}, "Cached")); diff != "" {
				t.Errorf("-without +with guesses:\n%s", diff)
			}
			if said := textOf(got[0]); said != tt.text {
				t.Errorf("it says %q, want %q", said, tt.text)
			}
			if 100*stats.Steps > tt.most*plain.Steps {
				t.Errorf("%d steps with guesses, %d of %d held; %d steps without", stats.Steps, stats.Held, stats.Drafted, plain.Steps)
			}
		})
	}
}

func textOf(pieces []chat.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		fmt.Fprintf(&b, "%s", p.Bytes)
	}
	return b.String()
}
