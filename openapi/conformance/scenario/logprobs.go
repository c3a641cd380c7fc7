package scenario

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// logprobs is how likely each token was, and what else could have come.
func logprobs() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("logprobs/join-to-text", "The tokens with log probabilities join to the text, plain and streamed.", likely, func(t *conformance.Trial, d dialect.Dialect) {
			r, _ := probable(t, d)
			checkJoin(t, d.Ask(t, r))
			checkJoin(t, d.Ask(t, streamed(r)))
		}),
		dialect.Each("logprobs/one-per-token", "There are as many log probabilities as tokens of output.", likely, onePerToken),
		dialect.Each("logprobs/values", "Log probabilities are not above 0, and those of one place add up to no more than 1.", likely, func(t *conformance.Trial, d dialect.Dialect) {
			_, a := probable(t, d)
			checkValues(t, a, 0)
		}),
		dialect.Each("logprobs/sorted", "The alternatives at a place are as many as asked for, the most likely first, and none twice.", func(d dialect.Dialect) bool {
			return d.Logprobs && d.Name != "completions" // there they are an object, which has no order
		}, sortedTop),
		dialect.Each("logprobs/greedy-takes-the-top", "A greedy answer takes the most likely token at every place.", likely, greedyTop),
		dialect.Each("logprobs/chosen-among-top", "The chosen token has the same log probability among the alternatives.", likely, chosenAmong),
		dialect.Each("logprobs/streamed-alike", "A stream gives the same tokens and log probabilities as the plain reply.", likely, streamedAlike),
		dialect.Each("logprobs/before-sampling", "Log probabilities do not depend on the temperature.", likely, beforeSampling),
		dialect.Each("logprobs/only-if-asked", "Log probabilities come only if they are asked for.", likely, onlyIfAsked),
		[]conformance.Scenario{
			dialect.Completions().Scenario("logprobs/text-offsets", "Every text_offset is where its token begins in the text.", textOffsets),
			dialect.Chat().Scenario("logprobs/without-alternatives", "Log probabilities may be asked for without alternatives.", withoutTop),
		},
	)
}

func likely(d dialect.Dialect) bool { return d.Logprobs }

// probable is a greedy request of 8 tokens with 5 alternatives each, and its answer.
func probable(t *conformance.Trial, d dialect.Dialect) (dialect.Request, *dialect.Answer) {
	r, _ := prose(t, d, 8)
	r.Logprobs = 5
	return r, probabilities(t, d, r)
}

// probabilities is an answer with a token, and so with log probabilities.
func probabilities(t *conformance.Trial, d dialect.Dialect, r dialect.Request) *dialect.Answer {
	for range 1 + tries {
		a := d.Ask(t, r)
		if len(a.First().Tokens) > 0 {
			return a
		}
		if a.First().Text != "" || a.Usage.Output != 0 {
			t.Fatalf(a.Exchange, "no log probabilities, which the request asks for")
		}
	}
	t.Skipf("the model ends its answer before the first token")
	return nil
}

// spelled is the bytes of a token: those that are told, those after the completions API's
// mark for what is no text, or those of the text.
func spelled(token dialect.Token) string {
	if token.Bytes != nil {
		return string(token.Bytes)
	}
	if escaped, ok := strings.CutPrefix(token.Text, "bytes:"); ok {
		if text, err := strconv.Unquote(`"` + escaped + `"`); err == nil {
			return text
		}
	}
	return token.Text
}

func checkJoin(t *conformance.Trial, a *dialect.Answer) {
	var b strings.Builder
	for _, token := range a.First().Tokens {
		b.WriteString(spelled(token))
	}
	text := a.First().Text
	if joined := b.String(); joined != text && utf8.ValidString(joined) { // else the limit cut a character
		t.Errorf(a.Exchange, "the tokens join to %q, and the text is %q", joined, text)
	}
}

// checkValues tolerates that the first tokens have none, as in an echo.
func checkValues(t *conformance.Trial, a *dialect.Answer, without int) {
	const tiny = 1e-3
	for i, token := range a.First().Tokens[min(without, len(a.First().Tokens)):] {
		if token.Logprob > tiny || math.IsNaN(token.Logprob) {
			t.Errorf(a.Exchange, "the log probability of token %d is %g", i, token.Logprob)
		}
		sum, most := 0.0, math.Inf(-1)
		for _, top := range token.Top {
			if top.Logprob > tiny {
				t.Errorf(a.Exchange, "the log probability of an alternative to token %d is %g", i, top.Logprob)
			}
			sum, most = sum+math.Exp(top.Logprob), max(most, top.Logprob)
		}
		if sum > 1+tiny {
			t.Errorf(a.Exchange, "the probabilities of the alternatives to token %d add up to %g", i, sum)
		}
		if len(token.Top) > 0 && token.Logprob > most+tiny {
			t.Errorf(a.Exchange, "token %d has the log probability %g, and the best alternative %g", i, token.Logprob, most)
		}
	}
}

func onePerToken(t *conformance.Trial, d dialect.Dialect) {
	r, plain := probable(t, d)
	for _, a := range []*dialect.Answer{plain, d.Ask(t, streamed(r))} {
		if a.First().Reasoning != "" {
			t.Skipf("the model thinks, and thinking has no log probabilities")
		}
		if n := len(a.First().Tokens); n != a.Usage.Output {
			t.Errorf(a.Exchange, "%d tokens have log probabilities, and the output counts %d", n, a.Usage.Output)
		}
	}
}

func sortedTop(t *conformance.Trial, d dialect.Dialect) {
	_, a := probable(t, d)
	for i, token := range a.First().Tokens {
		if len(token.Top) != 5 {
			t.Errorf(a.Exchange, "token %d has %d alternatives, want 5", i, len(token.Top))
		}
		seen := map[string]bool{}
		for j, top := range token.Top {
			if j > 0 && top.Logprob > token.Top[j-1].Logprob {
				t.Errorf(a.Exchange, "alternative %d to token %d is more likely than the one before", j, i)
			}
			if name := spelled(top); seen[name] && top.Bytes != nil && name != "" {
				t.Errorf(a.Exchange, "the alternative %q to token %d is there twice", name, i)
			} else {
				seen[name] = true
			}
		}
	}
}

func greedyTop(t *conformance.Trial, d dialect.Dialect) {
	d.NeedGreedy(t)
	_, a := probable(t, d)
	for i, token := range a.First().Tokens {
		if len(token.Top) == 0 {
			t.Fatalf(a.Exchange, "token %d has no alternatives", i)
		}
		if top := best(token); token.Logprob < top.Logprob-1e-3 {
			t.Errorf(a.Exchange, "token %d is %q with %g, and %q has %g", i, token.Text, token.Logprob, top.Text, top.Logprob)
		}
	}
}

func chosenAmong(t *conformance.Trial, d dialect.Dialect) {
	r, _ := probable(t, d)
	warm := 1.0
	r.Temperature = &warm
	a := d.Ask(t, r)
	for i, token := range a.First().Tokens {
		at := slices.IndexFunc(token.Top, func(top dialect.Token) bool { return spelled(top) == spelled(token) })
		if at >= 0 && math.Abs(token.Top[at].Logprob-token.Logprob) > 1e-3 {
			t.Errorf(a.Exchange, "token %d, %q, has %g, and among the alternatives %g", i, token.Text, token.Logprob, token.Top[at].Logprob)
		}
		least := slices.MinFunc(append(token.Top, token), func(a, b dialect.Token) int { return cmp.Compare(a.Logprob, b.Logprob) })
		if at < 0 && token.Logprob > least.Logprob+1e-3 {
			t.Errorf(a.Exchange, "token %d, %q, is not among the alternatives, and more likely than one of them", i, token.Text)
		}
	}
}

func streamedAlike(t *conformance.Trial, d dialect.Dialect) {
	r, plain := probable(t, d)
	alike(t, known(t, d, r, plain), asking(t, d, streamed(r)), func(left, right *dialect.Answer) string {
		want, got := left.First().Tokens, right.First().Tokens
		if len(got) != len(want) {
			return fmt.Sprintf("the stream has log probabilities of %d tokens, and the plain reply of %d", len(got), len(want))
		}
		for i := range got {
			if spelled(got[i]) != spelled(want[i]) || math.Abs(got[i].Logprob-want[i].Logprob) > rounding || len(got[i].Top) != len(want[i].Top) || got[i].Offset != want[i].Offset {
				return fmt.Sprintf("token %d is %+v in the stream, and %+v in the plain reply", i, got[i], want[i])
			}
		}
		return ""
	})
}

// rounding is how far two log probabilities of the same token may be apart: see tries.
const rounding = 0.4

func beforeSampling(t *conformance.Trial, d dialect.Dialect) {
	d.NeedGreedy(t)
	r, cold := probable(t, d)
	cool := 0.2
	r.Temperature = &cool
	a := probabilities(t, d, r)
	for i := range min(len(cold.First().Tokens), len(a.First().Tokens)) {
		want, got := cold.First().Tokens[i], a.First().Tokens[i]
		if len(want.Top) < 2 || len(got.Top) < 2 {
			t.Skipf("token %d has no two alternatives", i)
		}
		if left, right := lead(want), lead(got); max(left, right) > 2*min(left, right)+rounding {
			t.Errorf(a.Exchange, "at temperature 0.2 the most likely token %d leads the next by %.3f, and at 0 by %.3f", i, right, left)
		}
		if spelled(want) != spelled(got) {
			return // what comes next follows another text
		}
	}
}

// lead is how much more likely the first alternative is than the second, which a temperature
// of 0.2 would make five times as much. The likelihood of the first alone may hardly change.
func lead(token dialect.Token) float64 {
	top := slices.Clone(token.Top)
	slices.SortFunc(top, func(a, b dialect.Token) int { return cmp.Compare(b.Logprob, a.Logprob) })
	return top[0].Logprob - top[1].Logprob
}

// best is the most likely of a token and its alternatives.
func best(token dialect.Token) dialect.Token {
	return slices.MaxFunc(append([]dialect.Token{token}, token.Top...), func(a, b dialect.Token) int { return cmp.Compare(a.Logprob, b.Logprob) })
}

func onlyIfAsked(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "Hello", 2)
	for _, a := range []*dialect.Answer{d.Ask(t, r), d.Ask(t, streamed(r))} {
		if n := len(a.First().Tokens); n > 0 {
			t.Errorf(a.Exchange, "%d tokens have log probabilities, which nobody asked for", n)
		}
	}
}

func textOffsets(t *conformance.Trial, d dialect.Dialect) {
	_, a := probable(t, d)
	text := []rune(a.First().Text)
	at := 0
	if first := a.First().Tokens[0].Offset; first > 0 && !t.Marks {
		at = first // some servers count from the beginning of the prompt, though it is not in the text
	}
	for i, token := range a.First().Tokens {
		if !utf8.ValidString(spelled(token)) || strings.Contains(token.Text, "\ufffd") {
			t.Skipf("token %d is no whole text", i)
		}
		if token.Offset != at {
			t.Errorf(a.Exchange, "token %d, %q, begins at character %d of %q, and its text_offset is %d", i, token.Text, at, string(text), token.Offset)
		}
		at += utf8.RuneCountInString(spelled(token))
	}
}

func withoutTop(t *conformance.Trial, d dialect.Dialect) {
	r, _ := prose(t, d, 4)
	r.Logprobs = -1
	a := probabilities(t, d, r)
	checkJoin(t, a)
	for i, token := range a.First().Tokens {
		if len(token.Top) > 0 {
			t.Errorf(a.Exchange, "token %d has %d alternatives, and none were asked for", i, len(token.Top))
		}
	}
}
