package scenario

import (
	"slices"
	"sync"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// seeds is what chance does, and what it does not.
func seeds() []conformance.Scenario {
	return slices.Concat(
		each("seed/same-text", "The same seed and request give the same text, plain and streamed.", seeded, seedRepeats),
		each("seed/zero", "Seed 0 is a seed like any other.", seeded, seedZero),
		each("seed/others-differ", "Different seeds give different texts at temperature 1.", seeded, seedsDiffer),
		each("seed/among-others", "The same seed and request give the same text while other requests run.", seeded, seedAmongOthers),
		each("greedy/same-text", "Temperature 0 gives the same text every time, plain and streamed.", nil, greedyRepeats),
		each("greedy/among-others", "Temperature 0 gives the same text while other requests run.", nil, greedyAmongOthers),
		each("sampling/differs", "Temperature 1 does not always give the same text.", nil, samplingDiffers),
		each("sampling/top-p-0", "A top_p of almost 0 leaves only the most likely token.", nil, smallTopP),
		each("sampling/top-k-1", "A top_k of 1 leaves only the most likely token.", func(d dialect.Dialect) bool { return d.Name != "responses" }, topK),
	)
}

func seeded(d dialect.Dialect) bool { return d.Seeds }

func seedRepeats(t *conformance.Trial, d dialect.Dialect) {
	repeats(t, d, sampled(t, 42))
}

func seedZero(t *conformance.Trial, d dialect.Dialect) {
	repeats(t, d, sampled(t, 0))
}

func greedyRepeats(t *conformance.Trial, d dialect.Dialect) {
	r, _ := prose(t, d, 16)
	repeats(t, d, r)
}

// repeats asks the same four times.
func repeats(t *conformance.Trial, d dialect.Dialect, r dialect.Request) {
	want := d.Ask(t, r).First().Text
	for _, again := range []dialect.Request{r, streamed(r), r} {
		if a := d.Ask(t, again); a.First().Text != want {
			t.Errorf(a.Exchange, "the text is %q; the same request gave %q before", a.First().Text, want)
		}
	}
}

func seedsDiffer(t *conformance.Trial, d dialect.Dialect) {
	differ(t, d, func(i int) dialect.Request { return sampled(t, 100+i) })
}

func samplingDiffers(t *conformance.Trial, d dialect.Dialect) {
	differ(t, d, func(int) dialect.Request {
		r := sampled(t, 0)
		r.Seed = nil
		return r
	})
}

// differ asks up to six times until two texts differ.
func differ(t *conformance.Trial, d dialect.Dialect, request func(i int) dialect.Request) {
	first := d.Ask(t, request(0))
	for i := range 5 {
		if d.Ask(t, request(i+1)).First().Text != first.First().Text {
			return
		}
	}
	t.Errorf(first.Exchange, "six texts at temperature 1 are all %q", first.First().Text)
}

func seedAmongOthers(t *conformance.Trial, d dialect.Dialect) {
	amongOthers(t, d, sampled(t, 42))
}

func greedyAmongOthers(t *conformance.Trial, d dialect.Dialect) {
	r, _ := prose(t, d, 16)
	amongOthers(t, d, r)
}

// amongOthers asks alone, and then several times at once among other requests.
func amongOthers(t *conformance.Trial, d dialect.Dialect, r dialect.Request) {
	want := d.Ask(t, r).First().Text
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			request := r
			if i%2 == 1 {
				request.Turns = []dialect.Turn{{Role: "user", Text: "Tell me about number " + string(rune('0'+i))}}
			}
			request.Stream = i%4 == 2
			a, err := d.Try(t, request)
			switch {
			case err != nil:
				t.Errorf(a.Exchange, "one of 8 requests at once: %v", err)
			case i%2 == 0 && a.First().Text != want:
				t.Errorf(a.Exchange, "among others the text is %q, and alone %q", a.First().Text, want)
			}
		})
	}
	group.Wait()
}

func smallTopP(t *conformance.Trial, d dialect.Dialect) {
	tiny := 1e-6
	r, want := prose(t, d, 12)
	warm := 1.0
	r.Temperature, r.TopP = &warm, &tiny
	if a := d.Ask(t, r); a.First().Text != want.First().Text {
		t.Errorf(a.Exchange, "with a top_p of %g the text is %q, and the greedy one %q", tiny, a.First().Text, want.First().Text)
	}
}

// topK is a field that the OpenAI style has from other servers: one that does not know it
// may pass it over.
func topK(t *conformance.Trial, d dialect.Dialect) {
	r, want := prose(t, d, 12)
	warm := 1.0
	r.Temperature, r.Extra = &warm, map[string]any{"top_k": 1}
	x := t.Do(d.Encode(r))
	a, err := d.Read(x)
	same := x.Status == 200 && err == nil && a.First().Text == want.First().Text
	switch {
	case same:
	case d.Style == conformance.OpenAI && !t.Marks:
		t.NotOfferedf("top_k has no effect")
	default:
		t.Errorf(x, "with a top_k of 1 the text is %q, and the greedy one %q", a.First().Text, want.First().Text)
	}
}
