package handlerstest

import (
	"encoding/json"
	"errors"

	"github.com/diglot/diglot/engine"
)

func chatAsk(a Ask) []byte {
	return a.body(map[string]any{
		"messages": []any{map[string]any{"role": "user", "content": a.Text}}, "stop": a.Stop, "n": max(a.Choices, 1),
	})
}

// chatMessage is a message or a delta.
type chatMessage struct {
	Role             string  `json:"role"`
	Content          *string `json:"content"`
	Reasoning        string  `json:"reasoning"`
	ReasoningContent string  `json:"reasoning_content"`
	ToolCalls        []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

type chatReply struct {
	Choices []struct {
		Index        int         `json:"index"`
		Message      chatMessage `json:"message"`
		Delta        chatMessage `json:"delta"`
		FinishReason *string     `json:"finish_reason"`
	} `json:"choices"`
}

// chatAnswer folds an answer.
type chatAnswer struct {
	reasoning, text string
	calls           []AnswerBlock
	finish          *string
}

func (a *chatAnswer) add(m chatMessage) error {
	if m.Reasoning != m.ReasoningContent {
		return errors.New("reasoning has two names and differs")
	}
	a.reasoning += m.Reasoning
	if m.Content != nil {
		a.text += *m.Content
	}
	for _, call := range m.ToolCalls {
		var err error
		if a.calls, err = grow(a.calls, call.Index); err != nil {
			return err
		}
		c := &a.calls[call.Index]
		if c.Kind != "" && call.ID != "" {
			return errors.New("a call has two ids")
		}
		c.Kind, c.ID, c.Name = engine.BlockToolCall, c.ID+call.ID, c.Name+call.Function.Name
		c.Text += call.Function.Arguments
	}
	return nil
}

func (a *chatAnswer) end(reason *string) error {
	switch {
	case reason == nil:
		return nil
	case a.finish != nil:
		return errors.New("it ends twice")
	}
	a.finish = reason
	return nil
}

func (a *chatAnswer) answer() (Answer, error) {
	if a.finish == nil {
		return Answer{}, errors.New("it does not end")
	}
	out := Answer{Finish: *a.finish}
	if a.reasoning != "" {
		out.Blocks = append(out.Blocks, AnswerBlock{Kind: engine.BlockReasoning, Text: a.reasoning})
	}
	if a.text != "" {
		out.Blocks = append(out.Blocks, AnswerBlock{Kind: engine.BlockText, Text: a.text})
	}
	out.Blocks = append(out.Blocks, a.calls...)
	return out, nil
}

func wholeChat(body []byte) ([]Answer, error) {
	var reply chatReply
	if err := json.Unmarshal(body, &reply); err != nil {
		return nil, err
	}
	var answers []Answer
	for _, choice := range reply.Choices {
		for i := range choice.Message.ToolCalls {
			choice.Message.ToolCalls[i].Index = i
		}
		var a chatAnswer
		if err := a.add(choice.Message); err != nil {
			return nil, err
		}
		a.finish = choice.FinishReason
		answer, err := a.answer()
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

func foldChat(stream []byte) ([]Answer, error) {
	var choices []chatAnswer
	done := false
	err := eachFrame(stream, func(_ string, data []byte) error {
		if done {
			return errors.New("comes behind the done mark")
		}
		if done = string(data) == "[DONE]"; done {
			return nil
		}
		var chunk chatReply
		if err := json.Unmarshal(data, &chunk); err != nil {
			return err
		}
		for _, c := range chunk.Choices {
			if begins := c.Index == len(choices); begins != (c.Delta.Role == "assistant") {
				return errors.New("a role stands elsewhere than at the beginning of a choice")
			}
			var err error
			if choices, err = grow(choices, c.Index); err != nil {
				return err
			}
			if err := errors.Join(choices[c.Index].add(c.Delta), choices[c.Index].end(c.FinishReason)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !done {
		err = errors.New("there is no done mark")
	}
	var answers []Answer
	for _, c := range choices {
		answer, wrong := c.answer()
		err = errors.Join(err, wrong)
		answers = append(answers, answer)
	}
	return answers, err
}
