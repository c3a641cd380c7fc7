package anthropic

import (
	"crypto/sha256"
	"encoding/json"
	"hash"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// encoder turns the events of one reply into events of this style.
type encoder struct {
	head     head
	x        *exchange.Exchange
	started  bool
	thoughts hash.Hash // of the open thinking block, or nil
	finish   engine.Finish
}

func newEncoder(h head, x *exchange.Exchange) *encoder {
	return &encoder{head: h, x: x}
}

// Encode implements [sse.Encoder].
func (e *encoder) Encode(event engine.Event) []sse.Frame {
	switch v := event.(type) {
	case engine.Start:
		e.started = true
		return frames(wire.MessageStartFrameEventMessageStart, wire.NewMessageStartEvent(fromHead(e.head, v.PromptTokens)))
	case engine.BlockStart:
		return e.blockStart(v)
	case engine.TextDelta:
		return blockDelta(v.Index, wire.NewTextDelta(v.Text))
	case engine.ReasoningDelta:
		e.thoughts.Write([]byte(v.Text))
		return blockDelta(v.Index, wire.NewThinkingDelta(v.Text))
	case engine.ToolCallDelta:
		return blockDelta(v.Index, wire.NewInputJSONDelta(v.Arguments))
	case engine.BlockStop:
		return e.blockStop(v)
	case engine.Finish:
		e.finish = v // sent with the token counts, which come last
		return nil
	case engine.Done:
		return e.end(v.Usage)
	}
	return nil
}

// blockStart opens an empty block: clients read content from deltas only.
func (e *encoder) blockStart(v engine.BlockStart) []sse.Frame {
	var block wire.ContentBlock
	switch v.Kind {
	case engine.BlockReasoning:
		e.thoughts = sha256.New()
		block = thinkingBlock("", "")
	case engine.BlockToolCall:
		block = toolUseBlock(v.CallID, v.Name, json.RawMessage("{}"))
	default:
		block = textBlock("")
	}
	return frames(wire.ContentBlockStartFrameEventContentBlockStart, wire.NewContentBlockStartEvent(v.Index, block))
}

// blockDelta sends one variant of wire.ContentBlockDelta.
func blockDelta(index int, what any) []sse.Frame {
	var delta wire.ContentBlockDelta
	hold(&delta, what)
	return frames(wire.ContentBlockDeltaFrameEventContentBlockDelta, wire.NewContentBlockDeltaEvent(index, delta))
}

// blockStop closes a block; thinking gets its signature first.
func (e *encoder) blockStop(v engine.BlockStop) []sse.Frame {
	var out []sse.Frame
	if e.thoughts != nil {
		out = blockDelta(v.Index, wire.NewSignatureDelta(signature([sha256.Size]byte(e.thoughts.Sum(nil)))))
		e.thoughts = nil
	}
	return append(out, frames(wire.ContentBlockStopFrameEventContentBlockStop, wire.NewContentBlockStopEvent(v.Index))...)
}

// end sends the token counts. Those of the prompt are sent again: over another server they
// are not known at message_start.
func (e *encoder) end(usage engine.Usage) []sse.Frame {
	delta := fromFinish(e.finish.Reason, e.finish.StopSequence)
	counts := wire.NewMessageDeltaUsage(usage.PromptTokens, usage.CompletionTokens)
	return append(
		frames(wire.MessageDeltaFrameEventMessageDelta, wire.NewMessageDeltaEvent(delta, counts)),
		frames(wire.MessageStopFrameEventMessageStop, wire.NewMessageStopEvent())...)
}

// Fail implements [sse.Encoder].
func (e *encoder) Fail(err *engine.Error) []sse.Frame {
	return []sse.Frame{{Event: string(wire.ErrorFrameEventError), Data: fromError(e.x, err)}}
}

// KeepAlive implements [sse.Encoder]. Nothing may precede message_start, so until then it
// is a comment.
func (e *encoder) KeepAlive() sse.Frame {
	if !e.started {
		return sse.Frame{Comment: "keep-alive"}
	}
	return frames(wire.PingFrameEventPing, wire.NewPingEvent())[0]
}

func frames[Name ~string](event Name, data any) []sse.Frame {
	return []sse.Frame{sse.NewFrame(string(event), data)}
}
