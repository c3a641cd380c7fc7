package scenario

import (
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// seeds is what chance does, and what it does not.
func seeds() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("seed/same-text", "The same seed and request give the same text, plain and streamed.", seeded, seedRepeats),
		dialect.Each("seed/zero", "Seed 0 is a seed like any other.", seeded, seedZero),
		dialect.Each("seed/others-differ", "Different seeds give different texts at temperature 1.", seeded, seedsDiffer),
		dialect.Each("seed/among-others", "The same seed and request give the same text while other requests run.", seeded, seedAmongOthers),
		dialect.Each("greedy/same-text", "Temperature 0 gives the same text every time, plain and streamed.", nil, greedyRepeats),
		dialect.Each("greedy/among-others", "Temperature 0 gives the same text while other requests run.", nil, greedyAmongOthers),
		dialect.Each("sampling/differs", "Temperature 1 does not always give the same text.", nil, samplingDiffers),
		dialect.Each("sampling/top-p-0", "A top_p of almost 0 leaves only the most likely token.", nil, smallTopP),
		dialect.Each("sampling/top-k-1", "A top_k of 1 leaves only the most likely token.", func(d dialect.Dialect) bool { return d.Name != "responses" }, topK),
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
	d.NeedGreedy(t)
	r, _ := prose(t, d, 16)
	repeats(t, d, r)
}

// repeats asks the same several times, and wants a text to come twice: see tries.
func repeats(t *conformance.Trial, d dialect.Dialect, r dialect.Request) {
	alike(t, asking(t, d, r), asking(t, d, streamed(r)), differentText)
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
	d.NeedGreedy(t)
	r, _ := prose(t, d, 16)
	amongOthers(t, d, r)
}

// amongOthers asks alone, and then several times at once among other requests. One of those
// that are the same must agree with another: see tries.
func amongOthers(t *conformance.Trial, d dialect.Dialect, r dialect.Request) {
	seen := []string{d.Ask(t, r).First().Text}
	for i, a := range atOnce(t, d, 8, func(i int) dialect.Request {
		request := r
		if i%2 == 1 {
			request.Turns = []dialect.Turn{{Role: "user", Text: "Tell me about number " + string(rune('0'+i))}}
		}
		request.Stream = i%4 == 2
		return request
	}) {
		if a != nil && i%2 == 0 {
			seen = append(seen, a.First().Text)
		}
	}
	if slices.Sort(seen); len(slices.Compact(slices.Clone(seen))) == len(seen) {
		t.Errorf(nil, "five times the same request, four of them among others, gives %q", seen)
	}
}

// smallTopP sends no temperature to Anthropic's style: models of the vendor take only one of
// the two.
func smallTopP(t *conformance.Trial, d dialect.Dialect) {
	d.NeedGreedy(t)
	tiny := 1e-6
	greedy, want := prose(t, d, 12)
	r, warm := greedy, 1.0
	r.Temperature, r.TopP = &warm, &tiny
	if d.Style == conformance.Anthropic {
		r.Temperature = nil
	}
	alike(t, known(t, d, greedy, want), asking(t, d, r), differentText)
}

// topK is a field that the OpenAI style has from other servers: one that does not know it
// may refuse it or pass it over.
func topK(t *conformance.Trial, d dialect.Dialect) {
	d.NeedGreedy(t)
	greedy, want := prose(t, d, 12)
	r, warm := greedy, 1.0
	r.Temperature, r.Extra = &warm, map[string]any{"top_k": 1}
	if d.Style == conformance.OpenAI && !t.Marks {
		if a, err := d.Try(t, r); err != nil || a.First().Text != want.First().Text {
			t.NotOfferedf("top_k is of other servers, and has no effect here")
		}
	}
	alike(t, known(t, d, greedy, want), asking(t, d, r), differentText)
}
