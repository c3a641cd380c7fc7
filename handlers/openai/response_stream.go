package openai

import (
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
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
	return &responseEncoder{responder: r, x: x, output: []wire.ResponseOutputItem{}}
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

// next returns the next sequence number.
func (e *responseEncoder) next() int {
	e.sequence++
	return e.sequence - 1
}

// newEventFrame returns a frame that is named after the event's type.
func newEventFrame[T ~string](kind T, event any) sse.Frame { return sse.NewFrame(string(kind), event) }

func (e *responseEncoder) begin() []sse.Frame {
	e.begun = true
	created := wire.NewResponseCreatedEvent(e.next(), e.base)
	progress := wire.NewResponseInProgressEvent(e.next(), e.base)
	return []sse.Frame{newEventFrame(created.Type, created), newEventFrame(progress.Type, progress)}
}

// open begins an item and its only part; a call has no part.
func (e *responseEncoder) open(start engine.BlockStart) []sse.Frame {
	e.item = &openItem{
		id:    e.newID(itemPrefix[start.Kind]),
		block: engine.Block{Kind: start.Kind, CallID: start.CallID, Name: start.Name},
	}
	added := wire.NewResponseOutputItemAddedEvent(e.next(), len(e.output), e.fromBlock(e.item.block, e.item.id, wire.ResponseItemStatusInProgress))
	frames := []sse.Frame{newEventFrame(added.Type, added)}
	switch {
	case start.Kind == engine.BlockToolCall:
		return frames
	case e.isSummary():
		part := wire.NewResponseReasoningSummaryPartAddedEvent(e.next(), e.item.id, len(e.output), wire.NewResponseSummaryText(""))
		return append(frames, newEventFrame(part.Type, part))
	}
	part := wire.NewResponseContentPartAddedEvent(e.next(), e.item.id, len(e.output), fromPart(e.item.block))
	return append(frames, newEventFrame(part.Type, part))
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
	delta := wire.NewResponseOutputTextDeltaEvent(e.next(), e.item.id, len(e.output), v.Text)
	delta.Logprobs = fromTextLogprobs(v.Logprobs)
	return []sse.Frame{newEventFrame(delta.Type, delta)}
}

func (e *responseEncoder) reasoningDelta(text string) []sse.Frame {
	e.item.text.WriteString(text)
	if e.isSummary() {
		delta := wire.NewResponseReasoningSummaryTextDeltaEvent(e.next(), e.item.id, len(e.output), text)
		return []sse.Frame{newEventFrame(delta.Type, delta)}
	}
	delta := wire.NewResponseReasoningTextDeltaEvent(e.next(), e.item.id, len(e.output), text)
	return []sse.Frame{newEventFrame(delta.Type, delta)}
}

func (e *responseEncoder) argumentsDelta(arguments string) []sse.Frame {
	e.item.text.WriteString(arguments)
	delta := wire.NewResponseFunctionCallArgumentsDeltaEvent(e.next(), e.item.id, len(e.output), arguments)
	return []sse.Frame{newEventFrame(delta.Type, delta)}
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
		done := wire.NewResponseReasoningTextDoneEvent(e.next(), e.item.id, len(e.output), block.Text)
		return append([]sse.Frame{newEventFrame(done.Type, done)}, e.partDone(block))
	}
	done := wire.NewResponseOutputTextDoneEvent(e.next(), e.item.id, len(e.output), block.Text)
	done.Logprobs = fromTextLogprobs(block.Logprobs)
	return append([]sse.Frame{newEventFrame(done.Type, done)}, e.partDone(block))
}

func (e *responseEncoder) partDone(block engine.Block) sse.Frame {
	part := wire.NewResponseContentPartDoneEvent(e.next(), e.item.id, len(e.output), fromPart(block))
	return newEventFrame(part.Type, part)
}

func (e *responseEncoder) stopSummary(text string) []sse.Frame {
	done := wire.NewResponseReasoningSummaryTextDoneEvent(e.next(), e.item.id, len(e.output), text)
	part := wire.NewResponseReasoningSummaryPartDoneEvent(e.next(), e.item.id, len(e.output), wire.NewResponseSummaryText(text))
	return []sse.Frame{newEventFrame(done.Type, done), newEventFrame(part.Type, part)}
}

// stopArguments ends a call. LangChain loses a call without a delta, so one without
// arguments gets an empty delta.
func (e *responseEncoder) stopArguments(block engine.Block) []sse.Frame {
	var frames []sse.Frame
	if block.Arguments == "" {
		frames = e.argumentsDelta("")
	}
	done := wire.NewResponseFunctionCallArgumentsDoneEvent(e.next(), e.item.id, len(e.output), block.Name, block.Arguments)
	return append(frames, newEventFrame(done.Type, done))
}

// close ends the open item, if there is one.
func (e *responseEncoder) close(status wire.ResponseItemStatus) []sse.Frame {
	if e.item == nil {
		return nil
	}
	done := wire.NewResponseOutputItemDoneEvent(e.next(), len(e.output), e.fromBlock(e.item.whole(), e.item.id, status))
	e.output, e.item = append(e.output, done.Item), nil
	return []sse.Frame{newEventFrame(done.Type, done)}
}

// end returns the last event of a complete response.
func (e *responseEncoder) end(response wire.Response) sse.Frame {
	if response.Status == wire.ResponseStatusIncomplete {
		incomplete := wire.NewResponseIncompleteEvent(e.next(), response)
		return newEventFrame(incomplete.Type, incomplete)
	}
	completed := wire.NewResponseCompletedEvent(e.next(), response)
	return newEventFrame(completed.Type, completed)
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
	failed := wire.NewResponseFailedEvent(e.next(), e.fail(e.x, output, err))
	object := fromErrorObject(e.x, err)
	event := wire.NewResponseErrorEvent(e.next(), object.Message, object)
	event.Code, event.Param = object.Code, object.Param
	return append(frames, newEventFrame(failed.Type, failed), newEventFrame(event.Type, event))
}

// KeepAlive implements [sse.Encoder].
func (e *responseEncoder) KeepAlive() sse.Frame { return sse.Frame{Comment: "keep-alive"} }

var _ sse.Encoder = (*responseEncoder)(nil)
