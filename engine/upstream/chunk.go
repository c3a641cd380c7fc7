package upstream

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// chunk is a chunk of a streamed reply or a whole reply, of a chat completion or
// a completion. It has the fields that servers add to the generated types.
type chunk struct {
	fault
	Choices  []choice `json:"choices"`
	Usage    *counts  `json:"usage"`
	Progress *struct {
		Total     count `json:"total"`
		Processed count `json:"processed"`
	} `json:"prompt_progress"` // llama-server, before the first token
}

// content reports whether the chunk has any field of a reply.
func (c chunk) content() bool { return c.Choices != nil || c.Usage != nil || c.Progress != nil }

type choice struct {
	Index        count           `json:"index"`
	Error        json.RawMessage `json:"error"` // OpenRouter: of this choice
	Delta        delta           `json:"delta"`
	Message      *delta          `json:"message"` // of a whole reply
	Text         rawText         `json:"text"`    // of a completion
	FinishReason *string         `json:"finish_reason"`
	StopReason   json.RawMessage `json:"stop_reason"` // vLLM: the stop string or token
	Logprobs     *logprobs       `json:"logprobs"`
}

// advances reports whether the choice has new content or a finish_reason.
func (c choice) advances() bool {
	d := c.update()
	return cmp.Or(d.text(), d.reasoning(), c.Text) != "" || len(d.ToolCalls) > 0 || c.FinishReason != nil && *c.FinishReason != ""
}

// update returns the content that the choice adds.
func (c choice) update() delta {
	if c.Message != nil {
		return *c.Message
	}
	return c.Delta
}

// delta is new content of a choice; null fields count as absent.
type delta struct {
	Content          content     `json:"content"`
	Refusal          rawText     `json:"refusal"`
	Reasoning        rawText     `json:"reasoning"`
	ReasoningContent rawText     `json:"reasoning_content"`
	ToolCalls        []callDelta `json:"tool_calls"`
}

// text returns the text; a refusal counts as text.
func (d delta) text() rawText { return d.Content.text + d.Refusal }

// reasoning returns the reasoning. Servers that send both fields repeat the same
// text.
func (d delta) reasoning() rawText {
	return d.Content.reasoning + cmp.Or(d.ReasoningContent, d.Reasoning)
}

type callDelta struct {
	Index    count  `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// content is a string or, with Mistral's reasoning models, an array of text and
// reasoning.
type content struct{ text, reasoning rawText }

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
	c.text, c.reasoning = rawText(text.String()), rawText(thought.String())
	return nil
}

// texts is a string or an array of texts. It is not a [content], because nested
// arrays would be decoded once per level.
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

// arguments is a string that holds JSON; some servers send the JSON itself.
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

// count is an integer as servers write it: 3, 3.0, "3". Anything else is 0: an
// unreadable count must not fail the reply.
type count int

// maxNumber limits the text of a number, in bytes.
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

// counts is the usage of a reply.
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

// UnmarshalJSON implements [json.Unmarshaler]. Malformed counts are absent.
func (u *counts) UnmarshalJSON(b []byte) error {
	type plain counts
	_ = json.Unmarshal(b, (*plain)(u))
	return nil
}
