package handlerstest

import (
	"encoding/json"
	"errors"

	"github.com/diglot/diglot/engine"
)

func completionAsk(a Ask) []byte {
	return a.body(map[string]any{"prompt": a.Text, "stop": a.Stop, "n": max(a.Choices, 1), "max_tokens": 1000})
}

// completionReply is a reply or a chunk.
type completionReply struct {
	Choices []struct {
		Index        int     `json:"index"`
		Text         string  `json:"text"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
}

// completionFold folds whole replies and chunks.
type completionFold []chatAnswer

func (f *completionFold) add(data []byte) error {
	var reply completionReply
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	for _, c := range reply.Choices {
		for len(*f) <= c.Index {
			*f = append(*f, chatAnswer{})
		}
		a := &(*f)[c.Index]
		a.text += c.Text
		if err := a.end(c.FinishReason); err != nil {
			return err
		}
	}
	return nil
}

func (f completionFold) answers() (answers []Answer, err error) {
	for _, a := range f {
		answer, wrong := a.answer()
		err = errors.Join(err, wrong)
		if len(answer.Blocks) == 0 {
			answer.Blocks = []AnswerBlock{{Kind: engine.BlockText}}
		}
		answers = append(answers, answer)
	}
	return answers, err
}

func wholeCompletion(body []byte) ([]Answer, error) {
	var fold completionFold
	if err := fold.add(body); err != nil {
		return nil, err
	}
	return fold.answers()
}

func foldCompletion(stream []byte) ([]Answer, error) {
	var fold completionFold
	done := false
	err := eachFrame(stream, func(_ string, data []byte) error {
		if done = string(data) == "[DONE]"; done {
			return nil
		}
		return fold.add(data)
	})
	if err == nil && !done {
		err = errors.New("there is no done mark")
	}
	if err != nil {
		return nil, err
	}
	return fold.answers()
}
