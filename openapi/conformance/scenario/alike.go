package scenario

import (
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// tries is how often two answers may differ before that is a failure. What a server computes
// at the same time, and where it keeps what it computed before, changes the order of its
// additions: the same greedy request may then take either of two tokens that are almost as
// likely. One that says something else does so every time.
const tries = 3

// alike wants an answer that agrees with one of a reference request. differ says how they
// differ, or nothing.
func alike(t *conformance.Trial, reference, ask func() *dialect.Answer, differ func(want, got *dialect.Answer) string) {
	var wants []*dialect.Answer
	var got *dialect.Answer
	why := ""
	for try := range tries {
		for range 1 + try%2 { // a server may alternate
			wants = append(wants, reference())
		}
		got = ask()
		for _, want := range wants {
			if why = differ(want, got); why == "" {
				return
			}
		}
	}
	if got.Warm || wants[0].Warm {
		t.NotOfferedf("%s", dialect.NotGreedy)
	}
	t.Errorf(got.Exchange, "%s", why)
}

// asking is a request for alike.
func asking(t *conformance.Trial, d dialect.Dialect, r dialect.Request) func() *dialect.Answer {
	return func() *dialect.Answer { return d.Ask(t, r) }
}

// known is asking for an answer that is there: the first time it is not asked for again.
func known(t *conformance.Trial, d dialect.Dialect, r dialect.Request, a *dialect.Answer) func() *dialect.Answer {
	return func() *dialect.Answer {
		if first := a; first != nil {
			a = nil
			return first
		}
		return d.Ask(t, r)
	}
}

// spoken is a request for a text of a sentence, and its answer: one that a schema forces, so
// that it is the same every time, or where that is not offered, whatever the model says.
func spoken(t *conformance.Trial, d dialect.Dialect) (dialect.Request, *dialect.Answer) {
	const sentence = "The small brown fox lives in the forest."
	if d.Schemas {
		r := say(t, sentence)
		if a, err := d.Try(t, r); err == nil {
			if value, ok := said(a.First().Text); ok && value == sentence {
				return r, a
			}
		}
	}
	return prose(t, d, 24)
}
