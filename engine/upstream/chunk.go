package upstream

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// chunk is one piece of a reply, of a conversation or of a raw text, or a
// whole reply. Beyond what the generated types have, it holds what servers
// tell in addition.
type chunk struct {
	fault
	Choices  []choice `json:"choices"`
	Usage    *counts  `json:"usage"`
	Progress *struct {
		Total     count `json:"total"`
		Processed count `json:"processed"`
	} `json:"prompt_progress"` // llama-server, before the first token
}

// content reports whether the chunk holds anything of an answer.
func (c chunk) content() bool { return c.Choices != nil || c.Usage != nil || c.Progress != nil }

type choice struct {
	Index        count           `json:"index"`
	Error        json.RawMessage `json:"error"` // OpenRouter: of this answer
	Delta        delta           `json:"delta"`
	Message      *delta          `json:"message"` // of a whole reply
	Text         rawText         `json:"text"`    // of a raw text
	FinishReason *string         `json:"finish_reason"`
	StopReason   json.RawMessage `json:"stop_reason"` // vLLM: the stop string, or a token
	Logprobs     *logprobs       `json:"logprobs"`
}

// advances reports whether the choice has something new of its answer, or its
// end.
func (c choice) advances() bool {
	d := c.news()
	return cmp.Or(d.text(), d.thought(), c.Text) != "" || len(d.ToolCalls) > 0 || c.FinishReason != nil && *c.FinishReason != ""
}

// news is what the choice adds to its answer.
func (c choice) news() delta {
	if c.Message != nil {
		return *c.Message
	}
	return c.Delta
}

// delta is what is new in an answer; null is as good as nothing.
type delta struct {
	Content          content     `json:"content"`
	Refusal          rawText     `json:"refusal"`
	Reasoning        rawText     `json:"reasoning"`
	ReasoningContent rawText     `json:"reasoning_content"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

// text is what the answer says; a model that declines does so in its text.
func (d delta) text() rawText { return d.Content.text + d.Refusal }

// thought is what the answer thinks. Servers that have both names repeat one
// in the other.
func (d delta) thought() rawText {
	return d.Content.thought + cmp.Or(d.ReasoningContent, d.Reasoning)
}

type callDelta struct {
	Index    count  `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// content is text, or, of Mistral's models that think, a list of texts and
// thoughts.
type content struct{ text, thought rawText }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Text     rawText `json:"text"`
		Thinking texts   `json:"thinking"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text, thought strings.Builder
	for _, p := range parts {
		text.WriteString(string(p.Text))
		thought.WriteString(string(p.Thinking))
	}
	c.text, c.thought = rawText(text.String()), rawText(thought.String())
	return nil
}

// texts is text, or a list of texts. It is no [content]: lists inside each
// other would be read once for each level.
type texts rawText

// UnmarshalJSON implements [json.Unmarshaler].
func (t *texts) UnmarshalJSON(b []byte) error {
	if len(b) == 0 || b[0] != '[' {
		return json.Unmarshal(b, (*rawText)(t))
	}
	var parts []struct {
		Text rawText `json:"text"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var text strings.Builder
	for _, p := range parts {
		text.WriteString(string(p.Text))
	}
	*t = texts(text.String())
	return nil
}

// arguments are a text that holds JSON; some servers send the JSON itself.
type arguments rawText

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(b []byte) error {
	var text rawText
	if len(b) > 0 && b[0] == '{' {
		text = rawText(b)
	} else if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*a = arguments(text)
	return nil
}

// count is a whole number as servers write it: 3, 3.0, "3". What is none is 0:
// no answer is worth less for a count that cannot be read.
type count int

// maxNumber is the most bytes of what is read as a number.
const maxNumber = 400

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(b []byte) error {
	if len(b) > maxNumber {
		*c = 0
		return nil
	}
	f, err := strconv.ParseFloat(cmp.Or(word(b), string(b)), 64)
	if err != nil || math.IsNaN(f) {
		f = 0
	}
	const most = 1 << 53
	*c = count(max(-most, min(most, f)))
	return nil
}

// counts are what a reply tells of its tokens.
type counts struct {
	PromptTokens            count          `json:"prompt_tokens"`
	CompletionTokens        count          `json:"completion_tokens"`
	PromptTokensDetails     *promptUsage   `json:"prompt_tokens_details"`
	CompletionTokensDetails *completeUsage `json:"completion_tokens_details"`
}

type promptUsage struct {
	CachedTokens count `json:"cached_tokens"`
}

type completeUsage struct {
	ReasoningTokens count `json:"reasoning_tokens"`
}

// UnmarshalJSON implements [json.Unmarshaler]. What is of another form counts
// as not told.
func (u *counts) UnmarshalJSON(b []byte) error {
	type plain counts
	_ = json.Unmarshal(b, (*plain)(u))
	return nil
}
