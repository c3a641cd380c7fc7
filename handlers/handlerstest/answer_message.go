package handlerstest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine"
)

func messageAsk(a Ask) []byte {
	return a.body(map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": a.Text}}, "stop_sequences": a.Stop, "max_tokens": 1000,
	})
}

type messageBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
}

func (b messageBlock) block() (AnswerBlock, error) {
	switch b.Type {
	case "text":
		return AnswerBlock{Kind: engine.BlockText, Text: b.Text}, nil
	case "thinking":
		return AnswerBlock{Kind: engine.BlockReasoning, Text: b.Thinking}, nil
	case "tool_use":
		return AnswerBlock{Kind: engine.BlockToolCall, Text: CanonicalJSON(string(b.Input)), ID: b.ID, Name: b.Name}, nil
	}
	return AnswerBlock{}, fmt.Errorf("a block of type %q", b.Type)
}

// messageEnd holds why a message ended.
type messageEnd struct {
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

func (e messageEnd) end(a *Answer) {
	if e.StopReason != nil {
		a.Finish = *e.StopReason
	}
	if e.StopSequence != nil {
		a.Stop = *e.StopSequence
	}
}

func wholeMessage(body []byte) ([]Answer, error) {
	var reply struct {
		messageEnd
		Content []messageBlock `json:"content"`
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, err
	}
	var a Answer
	for _, b := range reply.Content {
		block, err := b.block()
		if err != nil {
			return nil, err
		}
		a.Blocks = append(a.Blocks, block)
	}
	reply.end(&a)
	return []Answer{a}, nil
}

// messageEvent has the fields of all events.
type messageEvent struct {
	Type         string       `json:"type"`
	Index        int          `json:"index"`
	ContentBlock messageBlock `json:"content_block"`
	Delta        struct {
		messageEnd
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		PartialJSON string `json:"partial_json"`
	} `json:"delta"`
}

// messageFold folds one message.
type messageFold struct {
	answer Answer
	open   bool
	ended  bool
}

func (f *messageFold) add(e messageEvent) error {
	switch e.Type {
	case "content_block_start":
		block, err := e.ContentBlock.block()
		if block.Kind == engine.BlockToolCall && block.Text == "{}" {
			block.Text = ""
		}
		if f.open || e.Index != len(f.answer.Blocks) || block.Text != "" {
			return errors.New("a block begins out of order, or with something in it")
		}
		f.answer.Blocks, f.open = append(f.answer.Blocks, block), true
		return err
	case "content_block_delta":
		if !f.open || e.Index != len(f.answer.Blocks)-1 {
			return errors.New("more comes of a block that is not open")
		}
		f.answer.Blocks[e.Index].Text += e.Delta.Text + e.Delta.Thinking + e.Delta.PartialJSON
	case "content_block_stop":
		if !f.open || e.Index != len(f.answer.Blocks)-1 {
			return errors.New("a block ends that is not open")
		}
		f.open = false
		if b := &f.answer.Blocks[e.Index]; b.Kind == engine.BlockToolCall {
			b.Text = CanonicalJSON(cmp.Or(b.Text, "{}")) // an empty text is a call without arguments
		}
	case "message_delta":
		e.Delta.end(&f.answer)
	case "message_stop":
		f.ended = true
	}
	return nil
}

func foldMessage(stream []byte) ([]Answer, error) {
	var fold messageFold
	err := eachFrame(stream, func(event string, data []byte) error {
		var e messageEvent
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		if event != e.Type {
			return errors.New("the event has two names")
		}
		return fold.add(e)
	})
	if err == nil && (fold.open || !fold.ended) {
		err = errors.New("it does not end")
	}
	return []Answer{fold.answer}, err
}
