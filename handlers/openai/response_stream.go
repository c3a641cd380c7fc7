package openai

import (
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
	"github.com/diglot/diglot/openapi"
)

// responseEncoder turns the events of one reply into the events of a response: its
// beginning, each item with its parts, and the whole response with all streamed items.
type responseEncoder struct {
	*responder
	sequence int // of the next event
	begun    bool
	output   []wire.ResponseOutputItem // finished items
	item     *openItem                 // the current item, or nil
	reason   engine.FinishReason
	x        *exchange.Exchange
	contract *openapi.Stream // tells what is withheld; nil: nothing
}

// openItem is an item in progress. It stays open after its block ends, until it is known
// whether the item is complete.
type openItem struct {
	id    string
	block engine.Block
	text  strings.Builder // of the block, whatever its kind
}

// whole returns the block so far.
func (i *openItem) whole() engine.Block {
	b := i.block
	if b.Kind == engine.BlockToolCall {
		b.Arguments = i.text.String()
	} else {
		b.Text = i.text.String()
	}
	return b
}

func newResponseEncoder(r *responder, x *exchange.Exchange) *responseEncoder {
	return &responseEncoder{responder: r, x: x, contract: x.Stream(), output: []wire.ResponseOutputItem{}}
}

// Encode implements [sse.Encoder].
func (e *responseEncoder) Encode(event engine.Event) []sse.Frame {
	switch v := event.(type) {
	case engine.Start:
		e.use(v.Used)
		return e.begin()
	case engine.BlockStart:
		return append(e.close(wire.ResponseItemStatusCompleted), e.open(v)...)
	case engine.TextDelta:
		return e.textDelta(v)
	case engine.ReasoningDelta:
		return e.reasoningDelta(v.Text)
	case engine.ToolCallDelta:
		return e.argumentsDelta(v.Arguments)
	case engine.BlockStop:
		return e.stop()
	case engine.Finish:
		e.reason = v.Reason
		return e.close(fromItemFinish(v.Reason))
	case engine.Done:
		return []sse.Frame{e.end(e.finish(e.output, e.reason, v.Usage))}
	}
	return nil
}

// newEventFrame returns a frame that is named after the event's type. Its number is taken
// unless the document withholds it, so that clients see no gap.
func newEventFrame[T ~string](e *responseEncoder, kind T, event any) sse.Frame {
	f := sse.NewFrame(string(kind), event)
	if e.contract != nil {
		if _, sent := e.contract.Narrow(f.Event, f.Data); !sent {
			return f
		}
	}
	e.sequence++
	return f
}

func (e *responseEncoder) begin() []sse.Frame {
	e.begun = true
	created := wire.NewResponseCreatedEvent(e.sequence, e.base)
	frames := []sse.Frame{newEventFrame(e, created.Type, created)}
	progress := wire.NewResponseInProgressEvent(e.sequence, e.base)
	return append(frames, newEventFrame(e, progress.Type, progress))
}

// open begins an item and its only part; a call has no part.
func (e *responseEncoder) open(start engine.BlockStart) []sse.Frame {
	e.item = &openItem{
		id:    e.newID(itemPrefix[start.Kind]),
		block: engine.Block{Kind: start.Kind, CallID: start.CallID, Name: start.Name},
	}
	added := wire.NewResponseOutputItemAddedEvent(e.sequence, len(e.output), e.fromBlock(e.item.block, e.item.id, wire.ResponseItemStatusInProgress))
	frames := []sse.Frame{newEventFrame(e, added.Type, added)}
	switch {
	case start.Kind == engine.BlockToolCall:
		return frames
	case e.isSummary():
		part := wire.NewResponseReasoningSummaryPartAddedEvent(e.sequence, e.item.id, len(e.output), wire.NewResponseSummaryText(""))
		return append(frames, newEventFrame(e, part.Type, part))
	}
	part := wire.NewResponseContentPartAddedEvent(e.sequence, e.item.id, len(e.output), fromPart(e.item.block))
	return append(frames, newEventFrame(e, part.Type, part))
}

// isSummary reports whether the open item is thinking shown as a summary.
func (e *responseEncoder) isSummary() bool {
	return e.summary && e.item.block.Kind == engine.BlockReasoning
}

// fromPart is the part of an item that is text.
func fromPart(b engine.Block) wire.ResponseContentPart {
	var part wire.ResponseContentPart
	if b.Kind == engine.BlockReasoning {
		hold(&part, wire.NewResponseReasoningText(b.Text))
	} else {
		hold(&part, fromText(b.Text, b.Logprobs))
	}
	return part
}

func (e *responseEncoder) textDelta(v engine.TextDelta) []sse.Frame {
	e.item.text.WriteString(v.Text)
	e.item.block.Logprobs = append(e.item.block.Logprobs, v.Logprobs...)
	delta := wire.NewResponseOutputTextDeltaEvent(e.sequence, e.item.id, len(e.output), v.Text)
	delta.Logprobs = fromTextLogprobs(v.Logprobs)
	return []sse.Frame{newEventFrame(e, delta.Type, delta)}
}

func (e *responseEncoder) reasoningDelta(text string) []sse.Frame {
	e.item.text.WriteString(text)
	if e.isSummary() {
		delta := wire.NewResponseReasoningSummaryTextDeltaEvent(e.sequence, e.item.id, len(e.output), text)
		return []sse.Frame{newEventFrame(e, delta.Type, delta)}
	}
	delta := wire.NewResponseReasoningTextDeltaEvent(e.sequence, e.item.id, len(e.output), text)
	return []sse.Frame{newEventFrame(e, delta.Type, delta)}
}

func (e *responseEncoder) argumentsDelta(arguments string) []sse.Frame {
	e.item.text.WriteString(arguments)
	delta := wire.NewResponseFunctionCallArgumentsDeltaEvent(e.sequence, e.item.id, len(e.output), arguments)
	return []sse.Frame{newEventFrame(e, delta.Type, delta)}
}

// stop ends the part of the open item.
func (e *responseEncoder) stop() []sse.Frame {
	block := e.item.whole()
	switch {
	case block.Kind == engine.BlockToolCall:
		return e.stopArguments(block)
	case e.isSummary():
		return e.stopSummary(block.Text)
	case block.Kind == engine.BlockReasoning:
		done := wire.NewResponseReasoningTextDoneEvent(e.sequence, e.item.id, len(e.output), block.Text)
		return append([]sse.Frame{newEventFrame(e, done.Type, done)}, e.partDone(block))
	}
	done := wire.NewResponseOutputTextDoneEvent(e.sequence, e.item.id, len(e.output), block.Text)
	done.Logprobs = fromTextLogprobs(block.Logprobs)
	return append([]sse.Frame{newEventFrame(e, done.Type, done)}, e.partDone(block))
}

func (e *responseEncoder) partDone(block engine.Block) sse.Frame {
	part := wire.NewResponseContentPartDoneEvent(e.sequence, e.item.id, len(e.output), fromPart(block))
	return newEventFrame(e, part.Type, part)
}

func (e *responseEncoder) stopSummary(text string) []sse.Frame {
	done := wire.NewResponseReasoningSummaryTextDoneEvent(e.sequence, e.item.id, len(e.output), text)
	frames := []sse.Frame{newEventFrame(e, done.Type, done)}
	part := wire.NewResponseReasoningSummaryPartDoneEvent(e.sequence, e.item.id, len(e.output), wire.NewResponseSummaryText(text))
	return append(frames, newEventFrame(e, part.Type, part))
}

// stopArguments ends a call. LangChain loses a call without a delta, so one without
// arguments gets an empty delta.
func (e *responseEncoder) stopArguments(block engine.Block) []sse.Frame {
	var frames []sse.Frame
	if block.Arguments == "" {
		frames = e.argumentsDelta("")
	}
	done := wire.NewResponseFunctionCallArgumentsDoneEvent(e.sequence, e.item.id, len(e.output), block.Name, block.Arguments)
	return append(frames, newEventFrame(e, done.Type, done))
}

// close ends the open item, if there is one.
func (e *responseEncoder) close(status wire.ResponseItemStatus) []sse.Frame {
	if e.item == nil {
		return nil
	}
	done := wire.NewResponseOutputItemDoneEvent(e.sequence, len(e.output), e.fromBlock(e.item.whole(), e.item.id, status))
	e.output, e.item = append(e.output, done.Item), nil
	return []sse.Frame{newEventFrame(e, done.Type, done)}
}

// end returns the last event of a complete response.
func (e *responseEncoder) end(response wire.Response) sse.Frame {
	if response.Status == wire.ResponseStatusIncomplete {
		incomplete := wire.NewResponseIncompleteEvent(e.sequence, response)
		return newEventFrame(e, incomplete.Type, incomplete)
	}
	completed := wire.NewResponseCompletedEvent(e.sequence, response)
	return newEventFrame(e, completed.Type, completed)
}

// Fail implements [sse.Encoder]. Some clients read only the failed response (Codex), some
// only the error event, and of those some the object in it (the vendor's SDKs) and others
// the fields beside it.
func (e *responseEncoder) Fail(err *engine.Error) []sse.Frame {
	var frames []sse.Frame
	if !e.begun {
		frames = e.begin() // clients expect it first
	}
	output := e.output
	if e.item != nil {
		output = append(output, e.fromBlock(e.item.whole(), e.item.id, wire.ResponseItemStatusIncomplete))
	}
	failed := wire.NewResponseFailedEvent(e.sequence, e.fail(e.x, output, err))
	frames = append(frames, newEventFrame(e, failed.Type, failed))
	object := fromErrorObject(e.x, err)
	event := wire.NewResponseErrorEvent(e.sequence, object.Message, object)
	event.Code, event.Param = object.Code, object.Param
	return append(frames, newEventFrame(e, event.Type, event))
}

// KeepAlive implements [sse.Encoder].
func (e *responseEncoder) KeepAlive() sse.Frame { return sse.Frame{Comment: "keep-alive"} }

var _ sse.Encoder = (*responseEncoder)(nil)
