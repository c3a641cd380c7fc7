package engine_test

import (
	"math"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
)

// TestSequenceOfRequest: a reply is held against what its request asked for.
// Those of package enginetest are the rules that need no request.
func TestSequenceOfRequest(t *testing.T) {
	text, stop := engine.BlockStart{Kind: engine.BlockText}, engine.BlockStop{}
	end, done := engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{}
	unknown := engine.TokenLogprob{Token: []byte("ab"), Logprob: math.NaN()}
	known := engine.TokenLogprob{Token: []byte("c"), Logprob: -1, Top: []engine.TokenLogprob{{Logprob: -1}}}
	delta := func(s string, tokens ...engine.TokenLogprob) engine.Event {
		return engine.TextDelta{Text: s, Logprobs: tokens}
	}
	plain := &engine.Request{Messages: make([]engine.Message, 2), Tools: []engine.Tool{{Name: "f"}}, Stop: []string{"x"}}
	two := &engine.Request{Choices: 2}
	echo := &engine.Request{Prompt: &engine.Prompt{Text: "abab", Echo: true}, Logprobs: new(1)}
	likely := &engine.Request{Logprobs: new(0)}
	start := func(s engine.Start) []engine.Event { return []engine.Event{s, end, done} }
	called := func(id, name string) []engine.Event {
		return []engine.Event{engine.Start{}, engine.BlockStart{Kind: engine.BlockToolCall, CallID: id, Name: name}, stop, end, done}
	}
	for _, tt := range []struct {
		name   string
		req    *engine.Request
		events []engine.Event
		want   string // a part of the error; empty: none
	}{
		{"one choice", plain, start(engine.Start{Dropped: 2}), ""},
		{"a choice too many", plain, []engine.Event{engine.Start{}, end, engine.Finish{Choice: 1, Reason: engine.FinishMaxTokens}}, "choice 1 of 1"},
		{"a choice too few", two, []engine.Event{engine.Start{}, end, done}, "1 of 2"},
		{"more left out than there is", plain, start(engine.Start{Dropped: 3}), "dropped"},
		{"a place in a tool", plain, start(engine.Start{Unenforced: []engine.Place{{Field: engine.FieldTools, Path: "/a"}}}), ""},
		{"a place in no tool", plain, start(engine.Start{Unenforced: []engine.Place{{Field: engine.FieldTools, Index: 1}}}), "index 1 of 1"},
		{"a place in no field", plain, start(engine.Start{Unenforced: []engine.Place{{Field: "x"}}}), "unknown field"},
		{"a long place", plain, start(engine.Start{Unenforced: []engine.Place{{Path: strings.Repeat("/", 2000)}}}), "2000 bytes"},
		{"a call", plain, called("a-B_1", "f"), ""},
		{"a call of no tool", plain, called("a", "g"), "unknown tool"},
		{"a wrong id", plain, called("a.b", "f"), "id"},
		{"a long id", plain, called(strings.Repeat("a", 129), "f"), "id"},
		{"a stop string", plain, []engine.Event{engine.Start{}, engine.Finish{Reason: engine.FinishStopSequence, StopSequence: "x"}, done}, ""},
		{"another stop string", plain, []engine.Event{engine.Start{}, engine.Finish{Reason: engine.FinishStopSequence, StopSequence: "y"}, done}, "not requested"},
		{"probabilities", likely, []engine.Event{engine.Start{}, text, delta("c", engine.TokenLogprob{Logprob: -1}), stop, end, done}, ""},
		{"probabilities for nobody", plain, []engine.Event{engine.Start{}, text, delta("c", known)}, "not requested"},
		{"alternatives for nobody", likely, []engine.Event{engine.Start{}, text, delta("c", known)}, "alternatives"},
		{"an echo in parts", echo, []engine.Event{engine.Start{}, text, delta("ab", unknown), delta("ab", unknown), delta("c", known), stop, end, done}, ""},
		{"an unknown token behind an echo", echo, []engine.Event{engine.Start{}, text, delta("abab", unknown, unknown), delta("ab", unknown)}, "logprob"},
		{"an impossible token", echo, []engine.Event{engine.Start{}, text, delta("ab", engine.TokenLogprob{Logprob: math.Inf(-1)})}, "logprob"},
		{"a fraction of nothing", plain, []engine.Event{engine.Start{}, end, engine.Done{Usage: engine.Usage{CompletionTokens: -1, ReasoningTokens: -1}}}, "-1 completion tokens"},
	} {
		s := engine.NewSequence(tt.req)
		var err error
		for _, e := range tt.events {
			if err == nil {
				err = s.Add(e)
			}
		}
		if err == nil {
			err = s.End()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", tt.name, err, tt.want)
		}
	}
}
