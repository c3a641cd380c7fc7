package scenario

import (
	"reflect"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// identity is what answers are called, and where their parts belong.
func identity() []conformance.Scenario {
	chat, completions := dialect.Chat(), dialect.Completions()
	return slices.Concat(
		dialect.Each("ids/unique", "Every answer has an id of its own.", nil, uniqueIDs),
		dialect.Each("ids/one-per-stream", "All events of a stream name the same answer.", nil, oneID),
		dialect.Each("ids/calls-unique", "Every tool call has an id of its own, also across answers.", tools, uniqueCallIDs),
		dialect.Each("model/as-requested", "An answer names the model that was asked, plain and streamed.", nil, modelEchoed),
		[]conformance.Scenario{
			chat.Scenario("stream/created-once", "All chunks of a stream carry the same time, in seconds, and the same model.", createdOnce),
			completions.Scenario("stream/created-once", "All chunks of a stream carry the same time, in seconds, and the same model.", createdOnce),
			chat.Scenario("stream/role-first", "The first chunk of every choice gives the role, and no later one another.", roleFirst),
			dialect.Messages().Scenario("stream/block-indexes", "Content blocks are numbered from 0 without a gap, and one ends before the next begins.", blockIndexes),
			dialect.Responses().Scenario("stream/sequence-numbers", "Events are numbered from 0 without a gap.", sequenceNumbers),
			dialect.Responses().Scenario("stream/output-indexes", "Output items are numbered from 0, and all their events name the item that was added there.", outputIndexes),
			dialect.Responses().Scenario("stream/last-event-repeats", "The response of the last event holds the text and the item ids that were streamed.", lastRepeats),
		},
	)
}

func tools(d dialect.Dialect) bool { return d.Tools }

// switching is a request that must call a tool with one small argument.
func switching(t *conformance.Trial) dialect.Request {
	return dialect.Greedy(t.Models.Text, "Switch the light on.", 60).Calling(dialect.ChoiceNamed, "switch_light", dialect.Tool{
		Name: "switch_light", Description: "Switches the light on or off.",
		Parameters: dialect.Closed(map[string]any{"on": map[string]any{"type": "boolean"}}, "on"),
	})
}

func uniqueIDs(t *conformance.Trial, d dialect.Dialect) {
	seen := map[string]bool{}
	for i := range 4 {
		r := dialect.Greedy(t.Models.Text, "Hello", 1)
		r.Stream = i%2 == 1
		a := d.Ask(t, r)
		if a.ID == "" || strings.ContainsAny(a.ID, " \t\r\n") {
			t.Errorf(a.Exchange, "the id is %q", a.ID)
		}
		if seen[a.ID] {
			t.Errorf(a.Exchange, "two answers have the id %q", a.ID)
		}
		seen[a.ID] = true
	}
}

func oneID(t *conformance.Trial, d dialect.Dialect) {
	a := d.Ask(t, streamed(dialect.Greedy(t.Models.Text, "Hello", 4)))
	if a.ID == "" {
		t.Errorf(a.Exchange, "the stream has no id")
	}
	for i, id := range a.IDs {
		if id != a.ID {
			t.Fatalf(a.Exchange, "event %d of those with an id has %q, and the last one %q", i, id, a.ID)
		}
	}
}

func uniqueCallIDs(t *conformance.Trial, d dialect.Dialect) {
	seen := map[string]bool{}
	for i := range 3 {
		r := switching(t)
		r.Stream = i == 1
		a := d.Ask(t, r)
		for _, call := range a.First().Calls {
			if call.ID == "" || seen[call.ID] {
				t.Errorf(a.Exchange, "a call has the id %q; those before it: %v", call.ID, slices.Collect(keys(seen)))
			}
			seen[call.ID] = true
		}
	}
	if len(seen) == 0 {
		t.Skipf("the model makes no call, even if it must")
	}
}

func keys(m map[string]bool) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// modelEchoed accepts a name that begins with the one of the request: an alias may stand for
// a dated version.
func modelEchoed(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "Hello", 1)
	plain, stream := d.Ask(t, r), d.Ask(t, streamed(r))
	for _, a := range []*dialect.Answer{plain, stream} {
		if !strings.HasPrefix(a.Model, r.Model) {
			t.Errorf(a.Exchange, "the model is %q, want %q", a.Model, r.Model)
		}
	}
	if plain.Model != stream.Model {
		t.Errorf(stream.Exchange, "the model is %q in the stream, and %q in the plain reply", stream.Model, plain.Model)
	}
}

func createdOnce(t *conformance.Trial, d dialect.Dialect) {
	a := d.Ask(t, streamed(dialect.Greedy(t.Models.Text, "Hello", 4)))
	all := events(t, a.Exchange)
	first := all[0]
	if created, _ := first.Number("created"); created < 1e9 || created > 1e11 {
		t.Errorf(a.Exchange, "created is %v, which is no Unix time in seconds", first["created"])
	}
	for i, chunk := range all {
		for _, name := range []string{"created", "model", "object"} {
			if !reflect.DeepEqual(chunk[name], first[name]) {
				t.Errorf(a.Exchange, "%s is %v in the first chunk, and %v in chunk %d", name, first[name], chunk[name], i)
			}
		}
	}
}

func roleFirst(t *conformance.Trial, d dialect.Dialect) {
	r := streamed(dialect.Greedy(t.Models.Text, "Hello", 4))
	r.N = 2
	x := d.Do(t, r)
	if x.Status != 200 {
		r.N = 0
		x = t.OK(d.For(t, r))
	}
	seen := map[int]bool{}
	for i, chunk := range events(t, x) {
		for _, choice := range chunk.Objects("choices") {
			role, index := choice.Object("delta").Text("role"), choice.Count("index")
			if !seen[index] && role != "assistant" {
				t.Errorf(x, "chunk %d is the first of choice %d, and its role is %q, want assistant", i, index, role)
			}
			if role != "" && role != "assistant" {
				t.Errorf(x, "the role in chunk %d is %q", i, role)
			}
			seen[index] = true
		}
	}
	if !seen[0] {
		t.Errorf(x, "no chunk is of choice 0")
	}
}
