package openai

import (
	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// completionEncoder turns the events of one reply into chunks: deltas, a chunk with the
// finish reason per choice, token counts if requested, and [DONE].
type completionEncoder struct {
	plainFrames
	head    head
	usage   bool
	cursors []*textCursor // by choice; nil: no log probabilities
}

func newCompletionEncoder(h head, req *engine.Request, usage bool, x *exchange.Exchange) *completionEncoder {
	e := &completionEncoder{plainFrames: plainFrames{x}, head: h, usage: usage}
	if req.Logprobs != nil {
		for range req.Choices {
			e.cursors = append(e.cursors, new(textCursor))
		}
	}
	return e
}

// Encode implements [sse.Encoder].
func (e *completionEncoder) Encode(event engine.Event) []sse.Frame {
	switch v := event.(type) {
	case engine.TextDelta:
		choice := wire.NewCompletionChunkChoice(v.Choice, v.Text)
		if e.cursors != nil {
			choice.Logprobs.Set(e.cursors[v.Choice].fromTokens(v.Logprobs))
		}
		return e.chunk(choice)
	case engine.Finish:
		choice := wire.NewCompletionChunkChoice(v.Choice, "")
		choice.FinishReason.Set(fromCompletionFinish[v.Reason])
		return e.chunk(choice)
	case engine.Done:
		return e.end(v.Usage)
	}
	return nil
}

func (e *completionEncoder) end(usage engine.Usage) []sse.Frame {
	done := sse.Frame{Data: []byte(wire.ChatCompletionDoneFrameDataDONE)}
	if !e.usage {
		return []sse.Frame{done}
	}
	c := e.newChunk([]wire.CompletionChunkChoice{})
	c.Usage.Set(fromUsage(usage))
	return []sse.Frame{sse.NewFrame("", c), done}
}

func (e *completionEncoder) chunk(choice wire.CompletionChunkChoice) []sse.Frame {
	return []sse.Frame{sse.NewFrame("", e.newChunk([]wire.CompletionChunkChoice{choice}))}
}

// newChunk returns a chunk, with usage null if usage will follow, as the vendor does.
func (e *completionEncoder) newChunk(choices []wire.CompletionChunkChoice) wire.CompletionChunk {
	c := wire.NewCompletionChunk(e.head.id, e.head.created, e.head.model)
	c.Choices = choices
	if e.usage {
		c.Usage = nullable.NewNullNullable[wire.CompletionUsage]()
	}
	return c
}
