package handlerstest

import "github.com/diglot/diglot/engine"

// Reply is a named sequence of events, for tables that both styles share.
type Reply struct {
	Name    string
	Request engine.Request // what encoders need of it
	Events  []engine.Event
}

// Replies returns answers of every shape.
func Replies() []Reply {
	top := []engine.TokenLogprob{{Token: []byte("<"), Logprob: -0.5}, {Token: []byte("\xe2\x9c"), Logprob: -1.25}}
	return []Reply{
		{
			Name:    "text",
			Request: engine.Request{Choices: 1},
			Events: reply(
				text(0, 0, "Hello", " <&> ✓"),
				engine.Finish{Reason: engine.FinishEndOfTurn},
			),
		},
		{
			Name:    "nothing",
			Request: engine.Request{Choices: 1},
			Events:  reply(nil, engine.Finish{Reason: engine.FinishEndOfTurn}),
		},
		{
			Name:    "reasoning_text_calls",
			Request: engine.Request{Choices: 1},
			Events: reply(
				join(
					[]engine.Event{
						engine.BlockStart{Index: 0, Kind: engine.BlockReasoning},
						engine.ReasoningDelta{Index: 0, Text: "hm"},
						engine.ReasoningDelta{Index: 0, Text: "m"},
						engine.BlockStop{Index: 0},
					},
					text(0, 1, "Let me see."),
					call(2, "a1", "get_weather", `{"city":`, ` "Zürich"}`),
					call(3, "b2", "get_time", `{"zone":"<CET>","at":12345678901234567890}`),
				),
				engine.Finish{Reason: engine.FinishToolCalls},
			),
		},
		{
			Name:    "stop_sequence",
			Request: engine.Request{Choices: 1, Stop: []string{"END"}},
			Events: reply(
				text(0, 0, "one "),
				engine.Finish{Reason: engine.FinishStopSequence, StopSequence: "END"},
			),
		},
		{
			Name:    "call_cut_short",
			Request: engine.Request{Choices: 1},
			Events: reply(
				call(0, "a1", "f", `{"whole": [1, 2], "cut": "he`),
				engine.Finish{Reason: engine.FinishMaxTokens},
			),
		},
		{
			Name:    "two_choices_with_logprobs",
			Request: engine.Request{Choices: 2, Logprobs: new(int)},
			Events: reply(
				join(
					[]engine.Event{
						engine.BlockStart{Choice: 1, Kind: engine.BlockText},
						engine.TextDelta{Choice: 1, Text: "<", Logprobs: []engine.TokenLogprob{{Token: []byte("<"), Logprob: -0.5, Top: top}}},
						engine.BlockStop{Choice: 1},
						engine.Finish{Choice: 1, Reason: engine.FinishMaxTokens},
					},
					text(0, 0, "x"),
				),
				engine.Finish{Reason: engine.FinishEndOfTurn},
			),
		},
	}
}

func reply(blocks []engine.Event, finish engine.Finish) []engine.Event {
	events := append([]engine.Event{engine.Start{PromptTokens: 11}}, blocks...)
	usage := engine.Usage{PromptTokens: 11, CachedTokens: 4, CompletionTokens: 7, ReasoningTokens: 2}
	return append(events, finish, engine.Done{Usage: usage})
}

func text(choice, index int, pieces ...string) []engine.Event {
	events := []engine.Event{engine.BlockStart{Choice: choice, Index: index, Kind: engine.BlockText}}
	for _, p := range pieces {
		events = append(events, engine.TextDelta{Choice: choice, Index: index, Text: p})
	}
	return append(events, engine.BlockStop{Choice: choice, Index: index})
}

func call(index int, id, name string, pieces ...string) []engine.Event {
	events := []engine.Event{engine.BlockStart{Index: index, Kind: engine.BlockToolCall, CallID: id, Name: name}}
	for _, p := range pieces {
		events = append(events, engine.ToolCallDelta{Index: index, Arguments: p})
	}
	return append(events, engine.BlockStop{Index: index})
}

func join(lists ...[]engine.Event) []engine.Event {
	var all []engine.Event
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
