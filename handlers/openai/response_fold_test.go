package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/handlers/internal/sse"
	"github.com/diglot/diglot/openapi"
)

// responseFold folds the items of a streamed response from its deltas, as clients do.
type responseFold struct {
	items []foldedItem
	last  wire.Response // of the last event that has one
	count int
}

// foldedItem has the fields of all kinds of items.
type foldedItem struct {
	ID        string       `json:"id"`
	Type      string       `json:"type"`
	Status    string       `json:"status"`
	Role      string       `json:"role"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Arguments string       `json:"arguments"`
	Content   []foldedPart `json:"content"`
	Summary   []foldedPart `json:"summary"`
}

type foldedPart struct {
	Type     string                 `json:"type"`
	Text     string                 `json:"text"`
	Logprobs []wire.ResponseLogprob `json:"logprobs"`
}

// foldedEvent has the fields of all events.
type foldedEvent struct {
	Type           string                 `json:"type"`
	SequenceNumber int                    `json:"sequence_number"`
	OutputIndex    int                    `json:"output_index"`
	ContentIndex   int                    `json:"content_index"`
	SummaryIndex   int                    `json:"summary_index"`
	ItemID         string                 `json:"item_id"`
	Delta          string                 `json:"delta"`
	Text           string                 `json:"text"`
	Arguments      string                 `json:"arguments"`
	Logprobs       []wire.ResponseLogprob `json:"logprobs"`
	Item           foldedItem             `json:"item"`
	Part           foldedPart             `json:"part"`
	Response       wire.Response          `json:"response"`
}

// foldResponse folds a stream and fails where an event contradicts those
// before it.
func foldResponse(stream string, checker *openapi.StreamChecker) (*responseFold, error) {
	var fold responseFold
	frames := sse.NewReader(strings.NewReader(stream))
	for {
		f, err := frames.Next()
		if errors.Is(err, io.EOF) {
			return &fold, checker.End()
		}
		if err == nil {
			err = checker.Frame(f.Event, string(f.Data))
		}
		var event foldedEvent
		if err == nil {
			err = json.Unmarshal(f.Data, &event)
		}
		if err == nil {
			err = fold.add(event)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Event, err)
		}
	}
}

func (f *responseFold) add(e foldedEvent) error {
	if e.SequenceNumber != f.count {
		return fmt.Errorf("has the number %d, want %d", e.SequenceNumber, f.count)
	}
	f.count++
	switch e.Type {
	case "response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed":
		f.last = e.Response
		return nil
	case "error":
		return nil
	case "response.output_item.added":
		if e.OutputIndex != len(f.items) {
			return fmt.Errorf("is item %d, want %d", e.OutputIndex, len(f.items))
		}
		f.items = append(f.items, e.Item)
		return nil
	}
	item := &f.items[len(f.items)-1]
	if e.OutputIndex != len(f.items)-1 || e.ItemID != item.ID && e.Type != "response.output_item.done" {
		return fmt.Errorf("belongs to item %d, %s; the last one is %s", e.OutputIndex, e.ItemID, item.ID)
	}
	return item.add(e)
}

func (i *foldedItem) add(e foldedEvent) error {
	switch e.Type {
	case "response.content_part.added":
		i.Content = append(i.Content, e.Part)
	case "response.reasoning_summary_part.added":
		i.Summary = append(i.Summary, e.Part)
	case "response.output_text.delta", "response.reasoning_text.delta":
		part := &i.Content[e.ContentIndex]
		part.Text += e.Delta
		part.Logprobs = append(part.Logprobs, e.Logprobs...)
	case "response.reasoning_summary_text.delta":
		i.Summary[e.SummaryIndex].Text += e.Delta
	case "response.function_call_arguments.delta":
		i.Arguments += e.Delta
	case "response.output_text.done", "response.reasoning_text.done":
		return same(i.Content[e.ContentIndex].Text, e.Text)
	case "response.reasoning_summary_text.done":
		return same(i.Summary[e.SummaryIndex].Text, e.Text)
	case "response.function_call_arguments.done":
		return same(i.Arguments, e.Arguments)
	case "response.content_part.done":
		return same(i.Content[e.ContentIndex], e.Part)
	case "response.reasoning_summary_part.done":
		return same(i.Summary[e.SummaryIndex], e.Part)
	case "response.output_item.done":
		i.Status = e.Item.Status
		return same(*i, e.Item)
	default:
		return errors.New("is not known")
	}
	return nil
}

func same[T any](folded, told T) error {
	if diff := cmp.Diff(folded, told); diff != "" {
		return fmt.Errorf("does not say what came before it (-before +told)\n%s", diff)
	}
	return nil
}

// outputOf reads the items of a response as a fold has them.
func outputOf(t testing.TB, r wire.Response) []foldedItem {
	t.Helper()
	text, err := json.Marshal(r.Output)
	if err != nil {
		t.Fatal(err)
	}
	var items []foldedItem
	if err := json.Unmarshal(text, &items); err != nil {
		t.Fatal(err)
	}
	return items
}

// randomReply is any answer that an engine may give: blocks of all kinds in
// any order, empty ones too.
func randomReply(random *rand.Rand) []engine.Event {
	events := []engine.Event{engine.Start{PromptTokens: random.IntN(9)}}
	for index := range random.IntN(6) {
		events = append(events, randomBlock(random, index)...)
	}
	reasons := []engine.FinishReason{engine.FinishEndOfTurn, engine.FinishMaxTokens, engine.FinishToolCalls, engine.FinishStopSequence}
	usage := engine.Usage{PromptTokens: random.IntN(9), CompletionTokens: random.IntN(9)}
	return append(events, engine.Finish{Reason: reasons[random.IntN(len(reasons))]}, engine.Done{Usage: usage})
}

func randomBlock(random *rand.Rand, index int) []engine.Event {
	kind := []engine.BlockKind{engine.BlockText, engine.BlockReasoning, engine.BlockToolCall}[random.IntN(3)]
	start := engine.BlockStart{Index: index, Kind: kind}
	if kind == engine.BlockToolCall {
		start.CallID, start.Name = fmt.Sprint(random.IntN(1000)), "f"
	}
	events := []engine.Event{start}
	for range random.IntN(4) {
		text := []string{"", "a", " <&> ", "é✓", `{"a":"`, "\n\n", "\"\\\u2028"}[random.IntN(7)]
		switch kind {
		case engine.BlockText:
			delta := engine.TextDelta{Index: index, Text: text}
			if random.IntN(2) == 0 {
				delta.Logprobs = []engine.TokenLogprob{{Token: []byte(text), Logprob: -0.5, Top: []engine.TokenLogprob{{Token: []byte("\xe2"), Logprob: -1}}}}
			}
			events = append(events, delta)
		case engine.BlockReasoning:
			events = append(events, engine.ReasoningDelta{Index: index, Text: text})
		case engine.BlockToolCall:
			events = append(events, engine.ToolCallDelta{Index: index, Arguments: text})
		}
	}
	return append(events, engine.BlockStop{Index: index})
}

// TestRandomResponses checks that a stream folds to the whole reply, item by item and id by
// id, and that a stream which breaks off anywhere still follows the document and reports
// what it has.
func TestRandomResponses(t *testing.T) {
	document, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	operation, _ := document.Operation("createResponse")
	contract, err := operation.Reply(200, "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	crash := &engine.Error{Code: engine.CodeEngineCrashed, Message: "Gone."}
	for seed := range uint64(1500) {
		events := randomReply(rand.New(rand.NewPCG(seed, 2)))
		body := responseBodies[[]string{"plain", "summary"}[seed%2]]
		stream := encodeResponse(t, newTestResponder(t, body), events, nil)
		fold, err := foldResponse(stream, contract.Stream.NewChecker())
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, stream)
		}
		whole := wholeResponse(t, newTestResponder(t, body), events)
		if diff := cmp.Diff(asText(t, whole), asText(t, fold.last)); diff != "" {
			t.Errorf("seed %d: the last event differs from the whole reply (-whole +last)\n%s", seed, diff)
		}
		if diff := cmp.Diff(outputOf(t, whole), fold.items); diff != "" && len(fold.items)+len(whole.Output) > 0 {
			t.Errorf("seed %d: the deltas differ from the whole reply (-whole +deltas)\n%s", seed, diff)
		}

		cut := events[:int(seed)%len(events)]
		stream = encodeResponse(t, newTestResponder(t, body), cut, crash)
		if fold, err = foldResponse(stream, contract.Stream.NewChecker()); err != nil {
			t.Fatalf("seed %d, cut: %v\n%s", seed, err, stream)
		}
		if fold.last.Status != wire.ResponseStatusFailed || len(fold.last.Output) != len(fold.items) {
			t.Errorf("seed %d, cut: %s with %d items, %d were begun", seed, fold.last.Status, len(fold.last.Output), len(fold.items))
		}
	}
}

func asText(t testing.TB, r wire.Response) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFoldFindsFaults checks that the fold can fail.
func TestFoldFindsFaults(t *testing.T) {
	document, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	operation, _ := document.Operation("createResponse")
	contract, err := operation.Reply(200, "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	right := encodeResponse(t, newTestResponder(t, responseBodies["plain"]), handlerstest.Text("x"), nil)
	for name, wrong := range map[string]string{
		"another text":   strings.Replace(right, `"delta":"x"`, `"delta":"y"`, 1),
		"a number twice": strings.Replace(right, `"sequence_number":3`, `"sequence_number":2`, 1),
		"another item":   strings.Replace(right, `"item_id":"msg_2"`, `"item_id":"msg_3"`, 1),
		"no end":         right[:strings.Index(right, "event: response.completed")],
		"another member": strings.Replace(right, `"delta":"x"`, `"delta":"x","extra":1`, 1),
	} {
		if wrong == right {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, err := foldResponse(wrong, contract.Stream.NewChecker()); err == nil {
			t.Errorf("%s: passed", name)
		}
	}
}
