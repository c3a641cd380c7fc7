package engine_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func sequence(err error, events ...engine.Event) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// long: most of it is the table.
func TestCollect(t *testing.T) {
	logprobs := []engine.TokenLogprob{{Token: []byte("a"), Logprob: -1}}
	tests := []struct {
		name   string
		events []engine.Event
		want   engine.Response
	}{
		{"nothing", nil, engine.Response{}},
		{
			"every kind of block",
			[]engine.Event{
				engine.Start{PromptTokens: 3},
				engine.BlockStart{Index: 0, Kind: engine.BlockReasoning},
				engine.ReasoningDelta{Index: 0, Text: "th"},
				engine.ReasoningDelta{Index: 0, Text: "ink"},
				engine.BlockStop{Index: 0},
				engine.BlockStart{Index: 1, Kind: engine.BlockText},
				engine.TextDelta{Index: 1, Text: "a", Logprobs: logprobs},
				engine.TextDelta{Index: 1, Text: "b"},
				engine.BlockStop{Index: 1},
				engine.BlockStart{Index: 2, Kind: engine.BlockToolCall, CallID: "1", Name: "f"},
				engine.ToolCallDelta{Index: 2, Arguments: "{"},
				engine.ToolCallDelta{Index: 2, Arguments: "}"},
				engine.BlockStop{Index: 2},
				engine.Finish{Reason: engine.FinishToolCalls},
				engine.Done{Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 5}},
			},
			engine.Response{
				PromptTokens: 3,
				Choices: []engine.Choice{{
					Blocks: []engine.Block{
						{Kind: engine.BlockReasoning, Text: "think"},
						{Kind: engine.BlockText, Text: "ab", Logprobs: logprobs},
						{Kind: engine.BlockToolCall, CallID: "1", Name: "f", Arguments: "{}"},
					},
					Reason: engine.FinishToolCalls,
				}},
				Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 5},
			},
		},
		{
			"interleaved choices, the later one first",
			[]engine.Event{
				engine.Start{},
				engine.BlockStart{Choice: 1, Kind: engine.BlockText},
				engine.BlockStart{Choice: 0, Kind: engine.BlockText},
				engine.TextDelta{Choice: 1, Text: "one"},
				engine.TextDelta{Choice: 0, Text: "zero"},
				engine.BlockStop{Choice: 0},
				engine.BlockStop{Choice: 1},
				engine.Finish{Choice: 1, Reason: engine.FinishStopSequence, StopSequence: "x"},
				engine.Finish{Choice: 0, Reason: engine.FinishMaxTokens},
				engine.Done{},
			},
			engine.Response{Choices: []engine.Choice{
				{Blocks: []engine.Block{{Kind: engine.BlockText, Text: "zero"}}, Reason: engine.FinishMaxTokens},
				{Blocks: []engine.Block{{Kind: engine.BlockText, Text: "one"}}, Reason: engine.FinishStopSequence, StopSequence: "x"},
			}},
		},
		{
			"an answer of nothing",
			[]engine.Event{engine.Start{PromptTokens: 1}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{}},
			engine.Response{PromptTokens: 1, Choices: []engine.Choice{{Reason: engine.FinishEndOfTurn}}},
		},
		{
			"a prompt that is counted at the end",
			[]engine.Event{engine.Start{}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{Usage: engine.Usage{PromptTokens: 7}}},
			engine.Response{PromptTokens: 7, Choices: []engine.Choice{{Reason: engine.FinishEndOfTurn}}, Usage: engine.Usage{PromptTokens: 7}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := engine.Collect(sequence(nil, tt.events...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestCollectError(t *testing.T) {
	crash := engine.Errorf(engine.CodeEngineCrashed, "gone")
	got, err := engine.Collect(sequence(crash, engine.Start{}, engine.BlockStart{Kind: engine.BlockText}))
	if got != nil || !errors.Is(err, crash) {
		t.Errorf("Collect = %v, %v; want the error alone", got, err)
	}
}

// TestCollectRefuses: events that no engine may send neither grow the reply
// nor end the program.
func TestCollectRefuses(t *testing.T) {
	open := engine.BlockStart{Kind: engine.BlockText}
	for name, events := range map[string][]engine.Event{
		"a choice beyond all":        {engine.Start{}, engine.Finish{Choice: 1 << 33}},
		"a block of one beyond all":  {engine.Start{}, engine.BlockStart{Choice: engine.MaxChoices}},
		"a choice before the first":  {engine.Start{}, engine.BlockStart{Choice: -1}},
		"text without a block":       {engine.Start{}, engine.TextDelta{Text: "a"}},
		"text behind a block":        {engine.Start{}, open, engine.BlockStop{}, engine.TextDelta{Text: "a"}},
		"text of a choice before it": {engine.Start{}, open, engine.ReasoningDelta{Choice: -1, Text: "a"}},
		"the end of no block":        {engine.Start{}, engine.BlockStop{}},
		"the end of a block twice":   {engine.Start{}, open, engine.BlockStop{}, engine.BlockStop{}},
	} {
		got, err := engine.Collect(sequence(nil, events...))
		if coded := engine.AsError(err); got != nil || coded == nil || coded.Code != engine.CodeInternal {
			t.Errorf("%s: Collect = %v, %v; want an error with code %q", name, got, err, engine.CodeInternal)
		}
	}
}
