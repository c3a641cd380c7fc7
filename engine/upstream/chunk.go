package upstream

import (
	"encoding/json"

	wire "github.com/diglot/diglot/gen/openai"
)

// chunk is one piece of a reply, of a conversation or of a raw text, or a
// whole reply. Beyond what the generated types have, it holds what servers
// tell in addition.
type chunk struct {
	Choices  []choice              `json:"choices"`
	Usage    *wire.CompletionUsage `json:"usage"`
	Error    json.RawMessage       `json:"error"`
	Progress *struct {
		Total int `json:"total"`
	} `json:"prompt_progress"` // llama-server, before the first token
}

type choice struct {
	Index        int                       `json:"index"`
	Delta        wire.ChatCompletionDelta  `json:"delta"`
	Message      *wire.ChatCompletionDelta `json:"message"` // of a whole reply
	Text         string                    `json:"text"`    // of a raw text
	FinishReason *string                   `json:"finish_reason"`
	StopReason   json.RawMessage           `json:"stop_reason"` // vLLM: the stop string, or a token
	Logprobs     *logprobs                 `json:"logprobs"`
}

// new is what the choice adds to its answer.
func (c choice) new() wire.ChatCompletionDelta {
	if c.Message != nil {
		return *c.Message
	}
	return c.Delta
}
