package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// biases is what logit_bias does. The ids of tokens differ from model to model, and no API
// tells them: a bias of 100 on some id shows which token that is.
func biases() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("logit-bias/forces-a-token", "A bias of 100 makes a token come at every place, greedy or sampled.", biased, forces),
		dialect.Each("logit-bias/bans-a-token", "A bias of -100 keeps a token away that else would come.", biased, bans),
		dialect.Each("logit-bias/of-nothing", "A bias of 0, an empty one and null change nothing.", biased, zeroBias),
		dialect.Each("logit-bias/bad-ids", "A key that is no token id is a bad request.", biased, badIDs),
	)
}

func biased(d dialect.Dialect) bool { return d.Bias }

// force asks with a bias of 100 on one id. ok is false if that token is no text.
func force(t *conformance.Trial, d dialect.Dialect, id int, temperature float64) (a *dialect.Answer, text string, ok bool) {
	r := dialect.Greedy(t.Models.Text, "Hello", 4)
	r.Temperature, r.Logprobs, r.Bias = &temperature, -1, map[string]int{strconv.Itoa(id): 100}
	if d.Name == "completions" {
		r.Logprobs = 1
	}
	a = d.Ask(t, r)
	tokens := a.First().Tokens
	if len(tokens) == 0 || a.First().Text == "" {
		return a, "", false
	}
	return a, spelled(tokens[0]), true
}

func forces(t *conformance.Trial, d dialect.Dialect) {
	tested := 0
	for _, id := range []int{400, 1000, 1500, 2000, 3000} {
		a, text, ok := force(t, d, id, float64(id%2))
		if !ok {
			continue
		}
		tested++
		if want := strings.Repeat(text, 4); a.First().Text != want {
			t.Errorf(a.Exchange, "with a bias of 100 on token %d the text is %q, want %q", id, a.First().Text, want)
		}
	}
	if tested == 0 {
		t.Skipf("no log probabilities show the tokens, or all that were tried are no text")
	}
}

// bans finds a token that the model repeats after a text of nothing else, and bans it.
func bans(t *conformance.Trial, d dialect.Dialect) {
	for _, id := range []int{1000, 1500, 2000, 3000, 400, 500, 600, 700, 800, 900} {
		_, text, ok := force(t, d, id, 0)
		if !ok || len(strings.TrimSpace(text)) < 2 {
			continue
		}
		r := dialect.Greedy(t.Models.Text, strings.Repeat(text, 40), 1)
		if d.Name != "completions" {
			r.Turns = []dialect.Turn{{Role: "user", Text: "Repeat it:" + strings.Repeat(text, 20)}, {Role: "assistant", Text: strings.Repeat(text, 20)}}
		}
		r.Logprobs = 1
		if free := d.Ask(t, r).First().Tokens; len(free) != 1 || spelled(free[0]) != text {
			continue
		}
		r.Bias = map[string]int{strconv.Itoa(id): -100}
		a := d.Ask(t, r)
		if got := a.First().Tokens; len(got) > 0 && spelled(got[0]) == text {
			t.Errorf(a.Exchange, "token %d, %q, comes with a bias of -100", id, text)
		}
		return
	}
	t.Skipf("the model repeats none of the tokens that were tried")
}

func zeroBias(t *conformance.Trial, d dialect.Dialect) {
	plain, want := prose(t, d, 6)
	r := plain
	for _, bias := range []any{map[string]int{"1000": 0}, map[string]int{}, nil} {
		r.Extra = map[string]any{"logit_bias": bias}
		alike(t, known(t, d, plain, want), asking(t, d, r), differentText)
	}
}

// badIDs tries an id beyond every vocabulary only where the server's own marks are tested:
// others may say that it has no effect.
func badIDs(t *conformance.Trial, d dialect.Dialect) {
	bad := []string{"hello", "1.5", ""}
	if t.Marks {
		bad = append(bad, "-1", "999999999")
	}
	for _, id := range bad {
		r := dialect.Greedy(t.Models.Text, "Hello", 1)
		r.Bias = map[string]int{id: 1}
		if x := d.Do(t, r); x.Status != 400 {
			t.Errorf(x, "with a bias on the token %q the status is %d, want 400", id, x.Status)
		}
	}
}
