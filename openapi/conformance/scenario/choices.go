package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// choices is several answers to one request, and answers that repeat their prompt.
func choices() []conformance.Scenario {
	completions := dialect.Completions()
	return slices.Concat(
		dialect.Each("choices/indexes", "n choices have the indexes 0 to n-1, plain and streamed, and each ends.", several, choiceIndexes),
		dialect.Each("choices/counted-together", "The output of all choices is counted together, and the input once.", several, countedTogether),
		dialect.Each("choices/greedy-alike", "Greedy choices of one request are all the same text.", several, greedyAlike),
		dialect.Each("choices/sampled-differ", "Sampled choices of one request are not all the same text.", several, sampledDiffer),
		dialect.Each("choices/same-seed", "The same seed gives the same list of choices again.", several, choicesSeed),
		[]conformance.Scenario{
			completions.Scenario("best-of/number", "With best_of, n of the texts come back, and the tokens of all are counted.", bestOf),
			completions.Scenario("best-of/below-n", "A best_of below n is a bad request.", bestOfBelow),
			completions.Scenario("echo/begins-with-prompt", "With echo, the text begins with the prompt and goes on as without, plain and streamed.", echoes),
			completions.Scenario("echo/every-choice", "With echo, the text of every choice begins with the prompt.", echoEvery),
			completions.Scenario("echo/alone", "With echo and a limit of 0 tokens, the text is the prompt alone.", echoAlone),
			completions.Scenario("echo/logprobs", "With echo and logprobs, the tokens join to prompt and text, and only the first may have no log probability.", echoLogprobs),
		},
	)
}

func several(d dialect.Dialect) bool { return d.Choices }

// sampled is a request at temperature 1 with a seed.
func sampled(t *conformance.Trial, seed int) dialect.Request {
	temperature := 1.0
	r := dialect.Greedy(t.Models.Text, "Once upon a time in a", 12)
	r.Temperature, r.Seed = &temperature, &seed
	return r
}

func texts(a *dialect.Answer) []string {
	var all []string
	for _, c := range a.Choices {
		all = append(all, c.Text)
	}
	return all
}

func choiceIndexes(t *conformance.Trial, d dialect.Dialect) {
	r := sampled(t, 1)
	r.N = 3
	for i, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, streamed(r))} {
		var indexes []int
		for _, c := range a.Choices {
			indexes = append(indexes, c.Index)
			if c.Finish != dialect.FinishStop && c.Finish != dialect.FinishLength {
				t.Errorf(a.Exchange, "choice %d ends with %q", c.Index, c.Finish)
			}
		}
		if i == 1 {
			slices.Sort(indexes) // they may arrive in any order
		}
		if !slices.Equal(indexes, []int{0, 1, 2}) {
			t.Errorf(a.Exchange, "the indexes of 3 choices are %v", indexes)
		}
	}
}

func countedTogether(t *conformance.Trial, d dialect.Dialect) {
	r, single := prose(t, d, 6)
	r.N = 3
	for _, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, streamed(r))} {
		if len(slices.Compact(texts(a))) > 1 {
			continue // other texts than before: see tries
		}
		if a.Usage.Input != single.Usage.Input || a.Usage.Output != 3*single.Usage.Output {
			t.Errorf(a.Exchange, "3 choices of 6 tokens count %d in and %d out; one counts %d and %d", a.Usage.Input, a.Usage.Output, single.Usage.Input, single.Usage.Output)
		}
	}
}

func greedyAlike(t *conformance.Trial, d dialect.Dialect) {
	d.NeedGreedy(t)
	r, _ := prose(t, d, 12)
	r.N = 3
	alike(t, asking(t, d, r), asking(t, d, r), func(_, got *dialect.Answer) string {
		if all := texts(got); len(all) != 3 || len(slices.Compact(slices.Clone(all))) != 1 {
			return fmt.Sprintf("3 greedy choices are %q", all)
		}
		return ""
	})
}

func sampledDiffer(t *conformance.Trial, d dialect.Dialect) {
	for seed := range 3 {
		r := sampled(t, seed+1)
		r.N = 4
		a := d.Ask(t, r)
		if all := texts(a); len(slices.Compact(all)) > 1 {
			return
		} else if seed == 2 {
			t.Errorf(a.Exchange, "4 choices at temperature 1 are all %q", all)
		}
	}
}

func choicesSeed(t *conformance.Trial, d dialect.Dialect) {
	r := sampled(t, 7)
	r.N, r.MaxTokens = 3, 4 // each token more is one more that may differ: see tries
	alike(t, asking(t, d, r), asking(t, d, streamed(r)), func(want, got *dialect.Answer) string {
		slices.SortFunc(got.Choices, func(a, b dialect.One) int { return a.Index - b.Index })
		all, before := texts(got), texts(want)
		for i := range min(len(all), len(before)) {
			if all[i] == before[i] {
				return "" // one is enough: see tries
			}
		}
		return fmt.Sprintf("the choices are %q, and with the same seed before %q", all, before)
	})
}

func bestOf(t *conformance.Trial, d dialect.Dialect) {
	r := sampled(t, 1)
	r.N, r.MaxTokens, r.Extra = 2, 3, map[string]any{"best_of": 4}
	a := d.Ask(t, r)
	if len(a.Choices) != 2 {
		t.Errorf(a.Exchange, "there are %d choices, want 2", len(a.Choices))
	}
	if a.Usage.Output <= 2*3 || a.Usage.Output > 4*3 {
		t.Errorf(a.Exchange, "4 texts of up to 3 tokens count %d", a.Usage.Output)
	}
}

func bestOfBelow(t *conformance.Trial, d dialect.Dialect) {
	r := sampled(t, 1)
	r.N, r.MaxTokens, r.Extra = 3, 1, map[string]any{"best_of": 2}
	if x := d.Do(t, r); x.Status != 400 {
		t.Errorf(x, "status %d, want 400", x.Status)
	}
}

func echoes(t *conformance.Trial, d dialect.Dialect) {
	quiet, silent := prose(t, d, 5)
	r, prompt := quiet, quiet.Turns[0].Text
	r.Extra = map[string]any{"echo": true}
	for _, loud := range []dialect.Request{r, streamed(r)} {
		alike(t, known(t, d, quiet, silent), asking(t, d, loud), func(want, got *dialect.Answer) string {
			if all := prompt + want.First().Text; got.First().Text != all {
				return fmt.Sprintf("with echo the text is %q, want %q", got.First().Text, all)
			}
			if got.Usage.Output != want.Usage.Output {
				return fmt.Sprintf("with echo the output counts %d tokens, and without %d", got.Usage.Output, want.Usage.Output)
			}
			return ""
		})
	}
}

func echoEvery(t *conformance.Trial, d dialect.Dialect) {
	r := sampled(t, 1)
	r.N, r.Extra = 2, map[string]any{"echo": true}
	for _, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, streamed(r))} {
		for _, c := range a.Choices {
			if !strings.HasPrefix(c.Text, r.Turns[0].Text) {
				t.Errorf(a.Exchange, "the text of choice %d is %q, and does not begin with the prompt", c.Index, c.Text)
			}
		}
	}
}

func echoAlone(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "To be or not to be: «that» 🙂", 0)
	r.Extra = map[string]any{"echo": true, "max_tokens": 0}
	a := d.Ask(t, r)
	if text := a.First().Text; text != r.Turns[0].Text {
		t.Errorf(a.Exchange, "the text is %q, want %q", text, r.Turns[0].Text)
	}
	if a.Usage.Output != 0 {
		t.Errorf(a.Exchange, "the output counts %d tokens, want 0", a.Usage.Output)
	}
}

func echoLogprobs(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "The cat sat on the mat.", 3)
	r.Logprobs, r.Extra = 2, map[string]any{"echo": true}
	a := d.Ask(t, r)
	checkJoin(t, a)
	checkValues(t, a, 1)
	if tokens := a.First().Tokens; len(tokens) < a.Usage.Input+a.Usage.Output-2 {
		t.Errorf(a.Exchange, "%d tokens have log probabilities; the input counts %d and the output %d", len(tokens), a.Usage.Input, a.Usage.Output)
	}
}
