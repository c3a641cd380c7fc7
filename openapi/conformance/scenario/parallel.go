package scenario

import (
	"fmt"
	"slices"
	"sync"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// parallel is many requests at once.
func parallel() []conformance.Scenario {
	return slices.Concat(
		dialect.Each("parallel/answers-do-not-mix", "Of 16 requests at once, plain and streamed, each gets its own answer.", schemas, doNotMix),
		dialect.Each("parallel/calls-do-not-mix", "Of 8 requests at once that call a tool, each gets its own arguments.", tools, callsDoNotMix),
		dialect.Each("parallel/counts-do-not-mix", "Requests of different length at once have each its own counts.", nil, countsDoNotMix),
	)
}

// atOnce asks n requests at the same time. Failures of the transport and of the status are
// reported; answers are in the order of the requests, nil where there is none.
func atOnce(t *conformance.Trial, d dialect.Dialect, n int, request func(i int) dialect.Request) []*dialect.Answer {
	all := make([]*dialect.Answer, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			a, err := d.Try(t, request(i))
			if err != nil {
				t.Errorf(a.Exchange, "one of %d requests at once: %v", n, err)
				return
			}
			all[i] = a
		})
	}
	group.Wait()
	return all
}

func doNotMix(t *conformance.Trial, d dialect.Dialect) {
	own := func(i int) string { return fmt.Sprintf("n%02d %c", i, 'a'+rune(i)) }
	if value, _ := said(d.Ask(t, say(t, own(0))).First().Text); value != own(0) {
		t.Skipf("the model cannot be made to say %q", own(0))
	}
	seen := map[string]int{}
	for i, a := range atOnce(t, d, 16, func(i int) dialect.Request {
		r := say(t, own(i))
		if i%2 == 1 {
			r = streamed(r)
		}
		return r
	}) {
		if a == nil {
			continue
		}
		if j, ok := seen[a.ID]; ok {
			t.Errorf(a.Exchange, "the answers to requests %d and %d have the same id, %q", i, j, a.ID)
		}
		seen[a.ID] = i
		if value, _ := said(a.First().Text); value != own(i) {
			t.Errorf(a.Exchange, "request %d, which must be answered with %q, gets %q", i, own(i), a.First().Text)
		}
	}
}

func callsDoNotMix(t *conformance.Trial, d dialect.Dialect) {
	request := func(i int) dialect.Request {
		r := switching(t)
		r.MaxTokens = 80
		r.Tools[0].Parameters = dialect.Closed(map[string]any{"room": map[string]any{"type": "string", "enum": []string{fmt.Sprintf("room %d", i)}}}, "room")
		r.Stream = i%2 == 1
		return r
	}
	called := func(a *dialect.Answer, i int) bool {
		calls := a.First().Calls
		return len(calls) == 1 && sameJSON(calls[0].Arguments, fmt.Sprintf(`{"room":"room %d"}`, i))
	}
	if !called(d.Ask(t, request(0)), 0) {
		t.Skipf("the model makes no such call, even if it must")
	}
	for i, a := range atOnce(t, d, 8, request) {
		if a != nil && !called(a, i) {
			t.Errorf(a.Exchange, "request %d, which must call with room %d, gets the calls %v", i, i, a.First().Calls)
		}
	}
}

func countsDoNotMix(t *conformance.Trial, d dialect.Dialect) {
	request := func(i int) dialect.Request {
		r := dialect.Greedy(t.Models.Text, "Tell me of ", 1+i%3)
		for range 3 * i {
			r.Turns[0].Text += "sea "
		}
		if i%2 == 1 {
			r = streamed(r)
		}
		return r
	}
	const n = 6
	var want [n]int
	for i := range n {
		want[i] = d.Ask(t, request(i)).Usage.Input
	}
	for i, a := range atOnce(t, d, n, request) {
		if a == nil {
			continue
		}
		if a.Usage.Input != want[i] || a.Usage.Output > 1+i%3 {
			t.Errorf(a.Exchange, "request %d counts %d in and %d out; alone it counts %d in, and its limit is %d", i, a.Usage.Input, a.Usage.Output, want[i], 1+i%3)
		}
	}
}
