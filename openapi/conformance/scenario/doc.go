// Package scenario has the promises of a server that do not follow from its documents alone:
// how the parts of one answer, and several answers to the same question, fit together.
//
// A scenario is written once, in the words of package dialect, and made for each dialect that
// can say it. It forces what it needs of a weak model (a grammar, a bias, a tool that must be
// called, the most likely tokens), or skips itself and says why. It knows no server: what the
// two vendors' APIs leave open is not tested.
package scenario

import (
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// All returns the scenarios.
func All() []conformance.Scenario {
	return slices.Concat(
		identity(),
		finishes(),
		counts(),
		stops(),
		choices(),
		logprobs(),
		biases(),
		seeds(),
		characters(),
		turns(),
		parallel(),
		bounds(),
	)
}

// prose is a greedy request whose answer fills maxTokens, and that answer. A model that
// always ends earlier ends the scenario.
func prose(t *conformance.Trial, d dialect.Dialect, maxTokens int) (dialect.Request, *dialect.Answer) {
	reached, last := true, (*dialect.Answer)(nil)
	for _, text := range []string{ // even a small model answers one of them at length
		"Write a long story about a fox who lives in a forest.",
		"Count from one to one hundred, one number per line.",
		"Explain in detail how bread is baked.",
		"The quick brown fox jumps over the lazy dog. The quick brown fox",
	} {
		r := dialect.Greedy(t.Models.Text, text, maxTokens)
		a := d.Ask(t, r)
		first := a.First()
		if first.Finish == dialect.FinishLength && first.Text != "" {
			return r, a
		}
		if a.Usage.Output != maxTokens {
			reached = false
		} else if last == nil {
			last = a
		}
	}
	if reached && last != nil { // by chance, one may end there of itself
		t.Fatalf(last.Exchange, "each answer has the %d tokens of its limit, and none says that the limit ended it", maxTokens)
	}
	t.Skipf("the model gives no text of %d tokens", maxTokens)
	return dialect.Request{}, nil
}

// streamed is a request with its answer as a stream, and the counts of tokens.
func streamed(r dialect.Request) dialect.Request {
	r.Stream, r.Usage = true, true
	return r
}

// events are those of a stream, at least one; a stream that cannot be read ends the scenario.
func events(t *conformance.Trial, x *conformance.Exchange) []dialect.Object {
	if x.MediaType() != "text/event-stream" {
		t.Fatalf(x, "a stream was asked for, and the reply is %q", x.MediaType())
	}
	all, err := dialect.Events(x)
	if err != nil {
		t.Fatalf(x, "%v", err)
	}
	if len(all) == 0 {
		t.Fatalf(x, "the stream has no event")
	}
	return all
}
