package enginetest

import (
	"math"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
)

func TestCheck(t *testing.T) {
	start := engine.Start{PromptTokens: 3}
	open := engine.BlockStart{Kind: engine.BlockText}
	text := engine.TextDelta{Text: "a"}
	stop := engine.BlockStop{}
	end := engine.Finish{Reason: engine.FinishEndOfTurn}
	done := engine.Done{Usage: engine.Usage{PromptTokens: 3}}
	call := engine.BlockStart{Kind: engine.BlockToolCall, CallID: "1", Name: "f"}
	none := engine.ToolCallDelta{Arguments: engine.NoArguments}
	called := engine.Finish{Reason: engine.FinishToolCalls}
	unknown := []engine.TokenLogprob{{Logprob: math.NaN()}}
	tests := []struct {
		name   string
		events []engine.Event
		want   string // a part of the error; empty: none
	}{
		{"text", []engine.Event{start, open, text, text, stop, end, done}, ""},
		{"no block", []engine.Event{start, end, done}, ""},
		{"call", []engine.Event{start, call, none, stop, called, done}, ""},
		{"call that is cut", []engine.Event{start, call, stop, engine.Finish{Reason: engine.FinishMaxTokens}, done}, ""},
		{"call without arguments", []engine.Event{start, call, stop, called, done}, "without arguments"},
		{"call without arguments, and more", []engine.Event{start, call, stop, engine.BlockStart{Index: 1, Kind: engine.BlockText}}, "without arguments"},
		{"two choices", []engine.Event{start, open, engine.BlockStart{Choice: 1, Kind: engine.BlockText}, stop, end,
			engine.BlockStop{Choice: 1}, engine.Finish{Choice: 1, Reason: engine.FinishMaxTokens}, done}, ""},
		{"nothing", nil, "without Done"},
		{"no start", []engine.Event{open}, "before Start"},
		{"two starts", []engine.Event{start, start}, "second Start"},
		{"no end", []engine.Event{start, end}, "without Done"},
		{"after the end", []engine.Event{start, end, done, done}, "after Done"},
		{"not finished", []engine.Event{start, open, stop, done}, "not finished"},
		{"no choice", []engine.Event{start, done}, "without a choice"},
		{"choice left out", []engine.Event{start, engine.Finish{Choice: 1, Reason: engine.FinishMaxTokens}, done}, "choice 1 of 1"},
		{"goes on", []engine.Event{start, end, open}, "after its Finish"},
		{"overlap", []engine.Event{start, open, open}, "inside another"},
		{"gap", []engine.Event{start, engine.BlockStart{Index: 1, Kind: engine.BlockText}}, "0 is next"},
		{"same index", []engine.Event{start, open, stop, open}, "1 is next"},
		{"wrong delta", []engine.Event{start, open, engine.ReasoningDelta{Text: "a"}}, "open block is"},
		{"delta outside", []engine.Event{start, text}, "open block is"},
		{"empty delta", []engine.Event{start, open, engine.TextDelta{}}, "empty delta"},
		{"half a character", []engine.Event{start, open, engine.TextDelta{Text: "\xc3"}}, "invalid UTF-8"},
		{"stop outside", []engine.Event{start, stop}, "not open"},
		{"finish inside", []engine.Event{start, open, end}, "inside a block"},
		{"call without name", []engine.Event{start, engine.BlockStart{Kind: engine.BlockToolCall, CallID: "1"}}, "unknown tool"},
		{"same id", []engine.Event{start, call, none, stop, engine.BlockStart{Index: 1, Kind: engine.BlockToolCall, CallID: "1", Name: "g"}}, "two calls"},
		{"end of turn after a call", []engine.Event{start, call, none, stop, end}, "end_of_turn"},
		{"calls without a call", []engine.Event{start, engine.Finish{Reason: engine.FinishToolCalls}}, "without a call"},
		{"stop sequence left out", []engine.Event{start, engine.Finish{Reason: engine.FinishStopSequence}}, "stop sequence"},
		{"other prompt", []engine.Event{start, end, engine.Done{}}, "prompt tokens"},
		{"a prompt counted at the end", []engine.Event{engine.Start{}, end, done}, ""},
		{"too much cached", []engine.Event{start, end, engine.Done{Usage: engine.Usage{PromptTokens: 3, CachedTokens: 4}}}, "cached"},
		{"too much reasoning", []engine.Event{start, end, engine.Done{Usage: engine.Usage{PromptTokens: 3, ReasoningTokens: 1}}}, "reasoning"},
		{"an unknown probability in a prompt", []engine.Event{start, open, engine.TextDelta{Text: "a", Logprobs: unknown}, stop, end, done}, ""},
		{"an unknown probability later", []engine.Event{start, open, text, engine.TextDelta{Text: "a", Logprobs: unknown}}, "logprob"},
		{"improbable", []engine.Event{start, open, engine.TextDelta{Text: "a", Logprobs: []engine.TokenLogprob{{Logprob: 1}}}}, "logprob"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := Check(test.events)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check: %v, want one about %q", err, test.want)
			}
		})
	}
}
