//go:build llamacpp && cgo

package llamacpp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/local/decode"
)

// repetitive are prompts whose answers repeat them, or themselves.
func repetitive() []string {
	all := []string{
		"Repeat this text word for word: " + strings.Repeat("The fox crosses the river, and the miller counts his sacks. ", 3),
		"Rename x to y in this code, and answer with the whole code:\n\nfunc add(x int, z int) int {\n\tx = x + z\n\tx = x * z\n\treturn x\n}\n",
		"Count from 1 to 30, one number per line.",
	}
	for _, what := range []string{"colours", "rivers", "animals", "cities", "tools"} {
		all = append(all, fmt.Sprintf("List ten %s as JSON objects with the keys name and description.", what))
	}
	return append(all, questions...)
}

// personGrammar is the grammar of a schema with much that is forced.
func personGrammar(t *testing.T) *grammar.Grammar {
	t.Helper()
	n, _, err := grammar.Schema(t.Context(), []byte(`{"type":"object","properties":{"name":{"type":"string","maxLength":20},"age":{"type":"integer"},"occupation":{"type":"string","maxLength":20},"address":{"type":"object","properties":{"street_name":{"type":"string","maxLength":20},"postal_code":{"type":"string","maxLength":10}},"required":["street_name","postal_code"],"additionalProperties":false},"favourite_colour":{"enum":["red","green","blue"]}},"required":["name","age","occupation","address","favourite_colour"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := grammar.Compile(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSameTextWithDrafts: guesses change neither greedy texts nor sampled ones. The
// matrix products and the attention of this model do not depend on the batch, so texts
// are equal to the last token.
func TestSameTextWithDrafts(t *testing.T) {
	options := Options{Path: modelFile(t, smallest), Threads: 1, Context: 1024, Parallel: 2}
	with := openModel(t, options)
	options.NoDraft = true
	without := openModel(t, options)
	person := personGrammar(t)
	for _, tt := range []struct {
		name   string
		change func(*chat.Job)
	}{
		{"greedy", func(*chat.Job) {}},
		{"sampled", func(j *chat.Job) {
			j.Sampling = engine.Sampling{Temperature: new(0.7), TopK: new(40), TopP: new(0.95), Seed: new(int64(3))}
		}},
		{"with a schema", func(j *chat.Job) { j.MaxTokens, j.Constraint = 120, person.Matcher() }},
		{"sampled with a schema", func(j *chat.Job) {
			j.MaxTokens, j.Constraint = 120, person.Matcher()
			j.Sampling = engine.Sampling{Temperature: new(0.7), Seed: new(int64(5))}
		}},
	} {
		before := with.Stats()
		for i, text := range repetitive() {
			if strings.Contains(tt.name, "schema") && i >= 6 {
				break
			}
			say := func(m *decode.Model) reply {
				job := greedy(tokenize(t, m, ask(text)), 64)
				tt.change(&job)
				return decodeAll(t, m, []chat.Job{job})[0]
			}
			if a, b := say(without), say(with); a.text != b.text || len(a.pieces) != len(b.pieces) {
				t.Errorf("%s: %q gives %q without guesses and %q with them", tt.name, text, a.text, b.text)
			}
		}
		s := with.Stats()
		t.Logf("%s: %d tokens in %d steps, %d of %d guessed tokens held", tt.name,
			s.Generated-before.Generated, s.Steps-before.Steps, s.Held-before.Held, s.Drafted-before.Drafted)
		if s.Drafted == before.Drafted {
			t.Errorf("%s: nothing was guessed", tt.name)
		}
	}
}

// TestLogitsLeftOutBesideOthers: texts of a schema are the same alone and beside others,
// for which all logits are computed.
func TestLogitsLeftOutBesideOthers(t *testing.T) {
	person := personGrammar(t)
	m := openModel(t, Options{Path: modelFile(t, smallest), Threads: 1, Context: 1024, Parallel: 4})
	jobs := func() []chat.Job {
		var all []chat.Job
		for i, text := range repetitive()[:4] {
			job := greedy(tokenize(t, m, ask(text)), 60)
			if i%2 == 0 {
				job.Constraint = person.Matcher()
			}
			all = append(all, job)
		}
		return all
	}
	together := decodeAll(t, m, jobs())
	for i, job := range jobs() {
		if alone := decodeAll(t, m, []chat.Job{job})[0]; alone.text != together[i].text {
			t.Errorf("text %d is %q alone and %q beside others", i, alone.text, together[i].text)
		}
	}
}

// TestSameTextWithLogitsLeftOut: a request that wants probabilities, for which all
// logits are computed, has the same text as one that does not.
func TestSameTextWithLogitsLeftOut(t *testing.T) {
	person := personGrammar(t)
	for _, noDraft := range []bool{false, true} {
		m := openModel(t, Options{Path: modelFile(t, smallest), Threads: 2, Context: 1024, Parallel: 2, NoDraft: noDraft})
		for i, text := range repetitive()[:4] {
			say := func(logprobs *int) reply {
				job := greedy(tokenize(t, m, ask(text)), 120)
				job.Constraint, job.Logprobs = person.Matcher(), logprobs
				if i%2 == 1 {
					job.Sampling = engine.Sampling{Temperature: new(0.8), TopP: new(0.95), Seed: new(int64(i))}
				}
				return decodeAll(t, m, []chat.Job{job})[0]
			}
			if all, few := say(new(0)), say(nil); all.text != few.text || len(all.pieces) != len(few.pieces) {
				t.Errorf("%q gives %q with all logits, and %q without those that the schema rules out", text, all.text, few.text)
			}
		}
	}
}
