package handlers_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// answers requests a whole reply and a stream, and returns both answers.
func answers(t *testing.T, h http.Handler, g handlerstest.Generation, ask handlerstest.Ask) (whole, folded []handlerstest.Answer, stream string) {
	t.Helper()
	ask.Stream = false
	w := post(t, h, g.Path, g.Body(ask))
	if w.Code != 200 {
		t.Fatalf("%s: status %d\n%s", g.Name, w.Code, w.Body)
	}
	whole, err := g.Whole(w.Body.Bytes())
	if err != nil {
		t.Fatalf("%s: %v\n%s", g.Name, err, w.Body)
	}
	ask.Stream = true
	s := post(t, h, g.Path, g.Body(ask))
	folded, err = g.Fold(s.Body.Bytes())
	if err != nil {
		t.Fatalf("%s, streamed: %v\n%s", g.Name, err, s.Body)
	}
	return whole, folded, s.Body.String()
}

// TestRandomBlocks checks in every style that a stream folds to the whole reply and that
// neither loses or changes what the engine said: for blocks of all kinds in any order,
// empty ones too, of one answer or several concurrently.
func TestRandomBlocks(t *testing.T) {
	for _, g := range handlerstest.Generations() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			e := &handlerstest.Engine{Name: "m"}
			h := newHandler(t, handlers.Config{Engine: e})
			for seed := range uint64(300) {
				r := &blockMaker{random: rand.New(rand.NewPCG(seed, 5))}
				choices := 1
				if g.Choices {
					choices += r.random.IntN(3)
				}
				e.Events = r.reply(choices)
				whole, folded, stream := answers(t, h, g, handlerstest.Ask{Text: "u", Choices: choices})
				if diff := gocmp.Diff(whole, folded); diff != "" {
					t.Fatalf("seed %d: -whole +stream\n%s\n%s", seed, diff, stream)
				}
				if diff := gocmp.Diff(r.said(g), told(whole)); diff != "" {
					t.Fatalf("seed %d: -engine +reply\n%s\n%s", seed, diff, stream)
				}
			}
		})
	}
}

// saying is the content of an answer by kind.
type saying struct {
	Text, Reasoning string
	Calls           []string
}

func told(answers []handlerstest.Answer) []saying {
	var all []saying
	for _, a := range answers {
		s := saying{Text: a.Text(), Reasoning: a.Reasoning()}
		for _, c := range a.Calls() {
			s.Calls = append(s.Calls, c.Name+handlerstest.CanonicalJSON(cmp.Or(c.Text, "{}")))
		}
		all = append(all, s)
	}
	return all
}

// blockMaker makes random engine events, and records their content per choice.
type blockMaker struct {
	random  *rand.Rand
	sayings []saying
	calls   int
}

func (r *blockMaker) said(g handlerstest.Generation) []saying {
	if g.Structure {
		return r.sayings
	}
	var texts []saying
	for _, s := range r.sayings {
		texts = append(texts, saying{Text: s.Text})
	}
	return texts
}

func (r *blockMaker) reply(choices int) []engine.Event {
	queues := make([][]engine.Event, choices)
	r.sayings = make([]saying, choices)
	for i := range queues {
		queues[i] = r.choice(i)
	}
	events := []engine.Event{engine.Start{PromptTokens: r.random.IntN(9)}}
	for len(queues) > 0 { // any of them goes on
		i := r.random.IntN(len(queues))
		events = append(events, queues[i][0])
		if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
			queues = append(queues[:i], queues[i+1:]...)
		}
	}
	return append(events, engine.Done{Usage: engine.Usage{PromptTokens: 1, CompletionTokens: r.random.IntN(9)}})
}

func (r *blockMaker) choice(choice int) []engine.Event {
	var events []engine.Event
	for index := range r.random.IntN(6) {
		kind := []engine.BlockKind{engine.BlockText, engine.BlockReasoning, engine.BlockToolCall}[r.random.IntN(3)]
		start := engine.BlockStart{Choice: choice, Index: index, Kind: kind}
		if kind == engine.BlockToolCall {
			r.calls++
			start.CallID, start.Name = fmt.Sprintf("c%d", r.calls), []string{"f", "get_weather"}[r.random.IntN(2)]
		}
		events = append(events, start)
		events = append(events, r.deltas(start)...)
		events = append(events, engine.BlockStop{Choice: choice, Index: index})
	}
	reasons := []engine.FinishReason{engine.FinishEndOfTurn, engine.FinishMaxTokens, engine.FinishToolCalls}
	return append(events, engine.Finish{Choice: choice, Reason: reasons[r.random.IntN(len(reasons))]})
}

// texts hold what encodings could damage, and look like what they are not.
var texts = []string{
	"", "", "a", "Hello, world. ", " <&> ", "é✓👩‍🚀", "\n\n", "\"\\\u2028\x00", "data: [DONE]\n\n", `{"a":1}`, "</think><tool_call>",
}

var arguments = []string{
	"", "{}", `{"a": 1}`, `{"city": "Zürich <&>", "n": 12345678901234567890, "b": 1, "a": [null, 1e999, {"": "\u00e9\n"}]}`,
}

func (r *blockMaker) deltas(b engine.BlockStart) (events []engine.Event) {
	s := &r.sayings[b.Choice]
	switch b.Kind {
	case engine.BlockText:
		for _, piece := range r.pieces(texts) {
			s.Text += piece
			events = append(events, engine.TextDelta{Choice: b.Choice, Index: b.Index, Text: piece})
		}
	case engine.BlockReasoning:
		for _, piece := range r.pieces(texts) {
			s.Reasoning += piece
			events = append(events, engine.ReasoningDelta{Choice: b.Choice, Index: b.Index, Text: piece})
		}
	case engine.BlockToolCall:
		pieces := r.cut(arguments[r.random.IntN(len(arguments))])
		s.Calls = append(s.Calls, b.Name+handlerstest.CanonicalJSON(cmp.Or(strings.Join(pieces, ""), "{}")))
		for _, piece := range pieces {
			events = append(events, engine.ToolCallDelta{Choice: b.Choice, Index: b.Index, Arguments: piece})
		}
	}
	return events
}

func (r *blockMaker) pieces(of []string) []string {
	pieces := make([]string, r.random.IntN(4))
	for i := range pieces {
		pieces[i] = of[r.random.IntN(len(of))]
	}
	return pieces
}

// cut splits a text between any characters, or not at all.
func (r *blockMaker) cut(text string) (pieces []string) {
	piece := ""
	for _, c := range text {
		if piece += string(c); r.random.IntN(4) == 0 {
			pieces = append(pieces, piece)
			piece = ""
		}
	}
	return append(pieces, piece)
}
