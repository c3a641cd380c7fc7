package openai

import (
	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// encoder turns the events of one reply into chunks: the role of each choice, then deltas,
// a chunk with the finish reason per choice, token counts if requested, and [DONE].
type encoder struct {
	plainFrames
	head     head
	choices  int
	logprobs bool
	usage    bool
	calls    map[int]int // number of tool calls begun, by choice
}

func newEncoder(h head, req *engine.Request, usage bool, x *exchange.Exchange) *encoder {
	return &encoder{plainFrames: plainFrames{x}, head: h, choices: req.Choices, logprobs: req.Logprobs != nil, usage: usage, calls: map[int]int{}}
}

// Encode implements [sse.Encoder].
func (e *encoder) Encode(event engine.Event) []sse.Frame {
	switch v := event.(type) {
	case engine.Start:
		return e.roles()
	case engine.BlockStart:
		if v.Kind != engine.BlockToolCall {
			return nil
		}
		e.calls[v.Choice]++
		return e.callDelta(v.Choice, wire.ChatCompletionToolCallDelta{
			ID:       new(fromCallID(v.CallID)),
			Type:     new(wire.ChatCompletionToolCallDeltaTypeFunction),
			Function: &wire.FunctionCallDelta{Name: &v.Name, Arguments: new("")},
		})
	case engine.ToolCallDelta:
		return e.callDelta(v.Choice, wire.ChatCompletionToolCallDelta{
			Function: &wire.FunctionCallDelta{Arguments: &v.Arguments},
		})
	case engine.TextDelta:
		choice := wire.NewChatCompletionChunkChoice(v.Choice, wire.ChatCompletionDelta{Content: nullable.NewNullableWithValue(v.Text)})
		if e.logprobs {
			choice.Logprobs.Set(fromLogprobs(v.Logprobs))
		}
		return e.chunk(choice)
	case engine.ReasoningDelta:
		return e.chunk(wire.NewChatCompletionChunkChoice(v.Choice, wire.ChatCompletionDelta{ReasoningContent: &v.Text, Reasoning: &v.Text}))
	case engine.Finish:
		choice := wire.NewChatCompletionChunkChoice(v.Choice, wire.ChatCompletionDelta{})
		choice.FinishReason.Set(fromFinishReason[v.Reason])
		return e.chunk(choice)
	case engine.Done:
		return e.end(v.Usage)
	}
	return nil
}

// roles opens every choice: client helpers need the role first.
func (e *encoder) roles() []sse.Frame {
	var frames []sse.Frame
	for i := range e.choices {
		frames = append(frames, e.chunk(wire.NewChatCompletionChunkChoice(i, wire.ChatCompletionDelta{
			Role:    new(wire.ChatCompletionDeltaRoleAssistant),
			Content: nullable.NewNullableWithValue(""),
		}))...)
	}
	return frames
}

func (e *encoder) callDelta(choice int, delta wire.ChatCompletionToolCallDelta) []sse.Frame {
	delta.Index = e.calls[choice] - 1
	return e.chunk(wire.NewChatCompletionChunkChoice(choice, wire.ChatCompletionDelta{ToolCalls: []wire.ChatCompletionToolCallDelta{delta}}))
}

func (e *encoder) end(usage engine.Usage) []sse.Frame {
	done := sse.Frame{Data: []byte(wire.ChatCompletionDoneFrameDataDONE)}
	if !e.usage {
		return []sse.Frame{done}
	}
	c := e.newChunk([]wire.ChatCompletionChunkChoice{})
	c.Usage.Set(fromUsage(usage))
	return []sse.Frame{sse.NewFrame("", c), done}
}

func (e *encoder) chunk(choice wire.ChatCompletionChunkChoice) []sse.Frame {
	return []sse.Frame{sse.NewFrame("", e.newChunk([]wire.ChatCompletionChunkChoice{choice}))}
}

// newChunk returns a chunk, with usage null if usage will follow, as the vendor does.
func (e *encoder) newChunk(choices []wire.ChatCompletionChunkChoice) wire.ChatCompletionChunk {
	c := wire.NewChatCompletionChunk(e.head.id, e.head.created, e.head.model)
	c.Choices = choices
	if e.usage {
		c.Usage = nullable.NewNullNullable[wire.CompletionUsage]()
	}
	return c
}

// plainFrames has the error and keep-alive frames that chunk streams share.
type plainFrames struct{ x *exchange.Exchange }

// Fail implements [sse.Encoder]: an unnamed data frame with an error object, which every
// client raises.
func (p plainFrames) Fail(err *engine.Error) []sse.Frame {
	return []sse.Frame{{Data: fromError(p.x, err)}}
}

// KeepAlive implements [sse.Encoder].
func (plainFrames) KeepAlive() sse.Frame { return sse.Frame{Comment: "keep-alive"} }
