package handlerstest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine"
)

func responseAsk(a Ask) []byte {
	return a.body(map[string]any{"input": a.Text})
}

type responsePart struct {
	Text string `json:"text"`
}

type responseItem struct {
	Type      string         `json:"type"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments string         `json:"arguments"`
	Content   []responsePart `json:"content"`
	Summary   []responsePart `json:"summary"`
}

type response struct {
	Status     string         `json:"status"`
	Output     []responseItem `json:"output"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

func (r response) answer() (Answer, error) {
	a := Answer{Finish: r.Status}
	if r.Incomplete != nil {
		a.Finish += ": " + r.Incomplete.Reason
	}
	for _, item := range r.Output {
		switch item.Type {
		case "message":
			for _, p := range item.Content {
				a.Blocks = append(a.Blocks, AnswerBlock{Kind: engine.BlockText, Text: p.Text})
			}
		case "reasoning":
			for _, p := range append(item.Summary, item.Content...) {
				a.Blocks = append(a.Blocks, AnswerBlock{Kind: engine.BlockReasoning, Text: p.Text})
			}
		case "function_call":
			a.Blocks = append(a.Blocks, AnswerBlock{Kind: engine.BlockToolCall, Text: item.Arguments, ID: item.CallID, Name: item.Name})
		default:
			return a, fmt.Errorf("an item of type %q", item.Type)
		}
	}
	return a, nil
}

func wholeResponse(body []byte) ([]Answer, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	a, err := r.answer()
	return []Answer{a}, err
}

// responseEvent has the fields of the delta events.
type responseEvent struct {
	Type         string       `json:"type"`
	OutputIndex  int          `json:"output_index"`
	ContentIndex int          `json:"content_index"`
	SummaryIndex int          `json:"summary_index"`
	Delta        string       `json:"delta"`
	Item         responseItem `json:"item"`
	Response     response     `json:"response"`
}

// responseFold folds one response from its deltas only.
type responseFold struct{ response }

func (f *responseFold) add(e responseEvent) (err error) {
	if e.Type == "response.output_item.added" {
		if e.OutputIndex != len(f.Output) {
			return fmt.Errorf("item %d begins, and there are %d so far", e.OutputIndex, len(f.Output))
		}
		f.Output = append(f.Output, e.Item)
		return nil
	}
	if e.Type == "response.completed" || e.Type == "response.incomplete" {
		f.Status, f.Incomplete = e.Response.Status, e.Response.Incomplete
		return nil
	}
	if e.OutputIndex >= len(f.Output) {
		return nil // of the response as a whole
	}
	item := &f.Output[e.OutputIndex]
	switch e.Type {
	case "response.content_part.added":
		item.Content, err = grow(item.Content, e.ContentIndex)
	case "response.reasoning_summary_part.added":
		item.Summary, err = grow(item.Summary, e.SummaryIndex)
	case "response.output_text.delta", "response.reasoning_text.delta":
		if item.Content, err = grow(item.Content, e.ContentIndex); err == nil {
			item.Content[e.ContentIndex].Text += e.Delta
		}
	case "response.reasoning_summary_text.delta":
		if item.Summary, err = grow(item.Summary, e.SummaryIndex); err == nil {
			item.Summary[e.SummaryIndex].Text += e.Delta
		}
	case "response.function_call_arguments.delta":
		item.Arguments += e.Delta
	}
	return err
}

func foldResponse(stream []byte) ([]Answer, error) {
	var fold responseFold
	err := eachFrame(stream, func(event string, data []byte) error {
		var e responseEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		if event != e.Type {
			return errors.New("the event has two names")
		}
		return fold.add(e)
	})
	if err == nil && fold.Status == "" {
		err = errors.New("it does not end")
	}
	if err != nil {
		return nil, err
	}
	a, err := fold.answer()
	return []Answer{a}, err
}
