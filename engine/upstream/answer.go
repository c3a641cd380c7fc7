package upstream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// answer is the state of one choice. It turns the deltas of text, reasoning and
// tool calls into blocks, of which one is open at a time.
type answer struct {
	choice   int
	top      int      // alternatives for each token
	stop     []string // of the request
	required bool     // a tool call is required
	emit     func(engine.Event) error
	begun    bool
	finished bool
	hasText  bool // a text delta was emitted

	next        int              // index of the next block, or of the open one
	open        engine.BlockKind // empty: none
	calls       calls
	noArguments bool                  // the open tool call has no arguments so far
	held        []engine.TokenLogprob // of tokens whose text has not come yet
	joiner      joiner                // of the open block
}

// tokenWeight is the size in memory of a token with its logprob, or of one of
// its alternatives.
const tokenWeight = 256

func newAnswer(i int, req *engine.Request, emit func(engine.Event) error) *answer {
	a := &answer{choice: i, stop: req.Stop, required: req.ToolChoice.Mode == engine.ToolRequired, emit: emit}
	if req.Logprobs != nil {
		a.top = *req.Logprobs
	}
	return a
}

func (a *answer) add(r *reply, c choice) error {
	a.begun = true
	delta := c.update()
	text, thought := cmp.Or(delta.text(), c.Text), delta.reasoning() // Together sends both, with the same text
	if a.finished {
		if text != "" || thought != "" || len(delta.ToolCalls) > 0 {
			return r.malformed("a choice continues after its finish_reason")
		}
		return nil
	}
	tokens := c.Logprobs.tokens(a.top, !a.hasText && len(a.held) == 0)
	if text == "" && !r.share.Reserve(int64(tokenWeight*len(tokens)*(1+a.top))) { // held until their text comes
		return r.interrupted(errFull)
	}
	a.held = append(a.held, tokens...)
	if err := a.addContent(text, thought); err != nil {
		return err
	}
	for _, call := range delta.ToolCalls {
		if err := a.call(r, call); err != nil {
			return err
		}
	}
	if c.FinishReason != nil && *c.FinishReason != "" {
		return a.finish(r, *c.FinishReason, c.StopReason)
	}
	return nil
}

func (a *answer) addContent(text, thought rawText) error {
	if err := a.append(engine.BlockReasoning, thought); err != nil {
		return err
	}
	return a.append(engine.BlockText, text)
}

// append appends to a text or reasoning block, opening it if necessary.
func (a *answer) append(kind engine.BlockKind, piece rawText) error {
	if piece == "" {
		return nil
	}
	if err := a.ensureOpen(engine.BlockStart{Kind: kind}); err != nil {
		return err
	}
	return a.emitDelta(a.joiner.add(piece))
}

// emitDelta emits a delta of the open block.
func (a *answer) emitDelta(text string) error {
	if text == "" {
		return nil
	}
	switch a.open {
	case engine.BlockReasoning:
		return a.emit(engine.ReasoningDelta{Choice: a.choice, Index: a.next, Text: text})
	case engine.BlockToolCall:
		return a.emit(engine.ToolCallDelta{Choice: a.choice, Index: a.next, Arguments: text})
	}
	tokens := a.held
	a.held, a.hasText = nil, true
	return a.emit(engine.TextDelta{Choice: a.choice, Index: a.next, Text: text, Logprobs: tokens})
}

// ensureOpen opens a block unless one of its kind is open.
func (a *answer) ensureOpen(b engine.BlockStart) error {
	if a.open == b.Kind {
		return nil
	}
	return a.openBlock(b)
}

func (a *answer) openBlock(b engine.BlockStart) error {
	if err := a.completeBlock(); err != nil {
		return err
	}
	b.Choice, b.Index, a.open = a.choice, a.next, b.Kind
	return a.emit(b)
}

// completeBlock closes a complete block. A tool call without arguments gets an
// empty object, so that clients can always parse them.
func (a *answer) completeBlock() error {
	if a.open == engine.BlockToolCall && a.noArguments {
		a.noArguments = false
		if err := a.emitDelta(engine.NoArguments); err != nil {
			return err
		}
	}
	return a.closeBlock()
}

func (a *answer) closeBlock() error {
	if a.open == "" {
		return nil
	}
	if err := a.emitDelta(a.joiner.rest()); err != nil {
		return err
	}
	stop := engine.BlockStop{Choice: a.choice, Index: a.next}
	a.open, a.next = "", a.next+1
	return a.emit(stop)
}

// call adds a delta of a tool call. A call starts once its name is known.
func (a *answer) call(r *reply, delta callDelta) error {
	p := a.calls.add(delta)
	switch {
	case a.calls.lacksName() && !r.share.Reserve(int64(len(delta.Function.Arguments))): // held until the name comes
		return r.interrupted(errFull)
	case p.late:
		return r.malformed(fmt.Sprintf("tool call %d continues after another has started", delta.Index))
	case p.refused:
		return r.malformed(fmt.Sprintf("a tool call has an invalid name, or there are more than %d", maxCalls))
	case p.nameless:
		return r.malformed("a call has no name")
	}
	if p.begins {
		if err := a.openBlock(engine.BlockStart{Kind: engine.BlockToolCall, CallID: p.id, Name: p.name}); err != nil {
			return err
		}
		a.noArguments = true
	}
	if p.arguments == "" || a.noArguments && isNothing(p.arguments) {
		return nil
	}
	a.noArguments = false
	if a.open != engine.BlockToolCall {
		return r.malformed("a tool call continues after text has started")
	}
	return a.emitDelta(a.joiner.add(p.arguments))
}

// isNothing reports whether a tool call has no arguments.
func isNothing(arguments rawText) bool {
	text := strings.TrimSpace(string(arguments))
	return text == "" || text == "null" // a nil value encoded by Go
}

// finish ends the choice for a finish_reason.
func (a *answer) finish(r *reply, reason string, stopReason json.RawMessage) error {
	if a.calls.lacksName() {
		return r.malformed("a call has no name")
	}
	reason = strings.ToLower(reason)
	leave := a.completeBlock
	if slices.Contains(lengths(), reason) {
		leave = a.closeBlock // a truncated call stays as it is
	}
	if err := leave(); err != nil {
		return err
	}
	a.finished = true
	out := engine.Finish{Choice: a.choice}
	switch reason {
	case "stop", "tool_calls", "function_call", "eos", "eos_token", "end_turn", "stop_sequence":
		out.Reason = engine.FinishEndOfTurn
		if s := a.stopped(stopReason); s != "" {
			out.Reason, out.StopSequence = engine.FinishStopSequence, s
		}
		if a.calls.begins > 0 {
			out.Reason, out.StopSequence = engine.FinishToolCalls, ""
		} else if a.required && out.StopSequence == "" { // llama-server drops tools for models that have none
			return noRetry(engine.CodeUnsupported, "The model's server returned no tool call, although one is required.").
				At(engine.Place{Field: engine.FieldToolChoice})
		}
	case "content_filter":
		return noRetry(engine.CodeUnsupported, "The content filter of the model's server withholds the rest of the answer.")
	default:
		if !slices.Contains(lengths(), reason) {
			return engine.Errorf(engine.CodeEngineCrashed, "The model's server ended its answer early.").
				Because(fmt.Errorf("finish_reason %q", reason))
		}
		out.Reason = engine.FinishMaxTokens
	}
	return a.emit(out)
}

// lengths returns the finish reasons of an answer that reached its token limit.
func lengths() []string {
	return []string{"length", "max_tokens", "model_length"} // the last one is Mistral's
}

// stopped returns the stop string that ended the answer. The style has no field
// for it, so most servers do not report it.
func (a *answer) stopped(stopReason json.RawMessage) string {
	var s string
	if json.Unmarshal(stopReason, &s) != nil || !slices.Contains(a.stop, s) {
		return ""
	}
	return s
}
