package upstream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// answer is one choice of a reply, as far as it has come. Chunks say what is
// new in its text, its thoughts or its calls; here they become blocks, of which
// one is open at a time.
type answer struct {
	choice   int
	top      int      // alternatives for each token
	stop     []string // that the client asked for
	required bool     // the client wants a call
	emit     func(engine.Event) error
	begun    bool
	finished bool
	spoken   bool // a text delta was told

	next   int              // index of the next block, or of the open one
	open   engine.BlockKind // empty: none
	calls  calls
	bare   bool                  // the open call has no arguments so far
	held   []engine.TokenLogprob // of tokens to which no text has come yet
	joiner joiner                // of the open block
}

// tokenWeight is how many bytes a token takes with its probability, and each
// that might have stood there.
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
	delta := c.news()
	text, thought := cmp.Or(delta.text(), c.Text), delta.thought() // Together has both, and they say the same
	if a.finished {
		if text != "" || thought != "" || len(delta.ToolCalls) > 0 {
			return r.malformed("an answer goes on after its end")
		}
		return nil
	}
	tokens := c.Logprobs.tokens(a.top, !a.spoken && len(a.held) == 0)
	if text == "" && !r.share.Reserve(int64(tokenWeight*len(tokens)*(1+a.top))) { // they wait for their text
		return r.broken(errFull)
	}
	a.held = append(a.held, tokens...)
	if err := a.say(text, thought); err != nil {
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

func (a *answer) say(text, thought rawText) error {
	if err := a.put(engine.BlockReasoning, thought); err != nil {
		return err
	}
	return a.put(engine.BlockText, text)
}

// put adds a piece to a block of text or thoughts, which it opens.
func (a *answer) put(kind engine.BlockKind, piece rawText) error {
	if piece == "" {
		return nil
	}
	if err := a.enter(engine.BlockStart{Kind: kind}); err != nil {
		return err
	}
	return a.tell(a.joiner.add(piece))
}

// tell adds text to the open block.
func (a *answer) tell(text string) error {
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
	a.held, a.spoken = nil, true
	return a.emit(engine.TextDelta{Choice: a.choice, Index: a.next, Text: text, Logprobs: tokens})
}

// enter opens a block of text or thoughts, unless one of the kind is open.
func (a *answer) enter(b engine.BlockStart) error {
	if a.open == b.Kind {
		return nil
	}
	return a.begin(b)
}

func (a *answer) begin(b engine.BlockStart) error {
	if err := a.leaveWhole(); err != nil {
		return err
	}
	b.Choice, b.Index, a.open = a.choice, a.next, b.Kind
	return a.emit(b)
}

// leaveWhole closes a block that is not cut. A call without arguments has an empty
// object, so that a client can always parse them.
func (a *answer) leaveWhole() error {
	if a.open == engine.BlockToolCall && a.bare {
		a.bare = false
		if err := a.tell(engine.NoArguments); err != nil {
			return err
		}
	}
	return a.leave()
}

func (a *answer) leave() error {
	if a.open == "" {
		return nil
	}
	if err := a.tell(a.joiner.rest()); err != nil {
		return err
	}
	stop := engine.BlockStop{Choice: a.choice, Index: a.next}
	a.open, a.next = "", a.next+1
	return a.emit(stop)
}

// call adds a piece of a call. One begins when its name is known.
func (a *answer) call(r *reply, delta callDelta) error {
	p := a.calls.add(delta)
	switch {
	case a.calls.pending() && !r.share.Reserve(int64(len(delta.Function.Arguments))): // they wait for the name
		return r.broken(errFull)
	case p.late:
		return r.malformed(fmt.Sprintf("call %d goes on after another has begun", delta.Index))
	case p.refused:
		return r.malformed(fmt.Sprintf("the name of a call is none, or it is one of more than %d", maxCalls))
	case p.nameless:
		return r.malformed("a call has no name")
	}
	if p.begins {
		if err := a.begin(engine.BlockStart{Kind: engine.BlockToolCall, CallID: p.id, Name: p.name}); err != nil {
			return err
		}
		a.bare = true
	}
	if p.arguments == "" || a.bare && isNothing(p.arguments) {
		return nil
	}
	a.bare = false
	if a.open != engine.BlockToolCall {
		return r.malformed("a call goes on after text has begun")
	}
	return a.tell(a.joiner.add(p.arguments))
}

// isNothing reports whether the arguments of a call are none.
func isNothing(arguments rawText) bool {
	text := strings.TrimSpace(string(arguments))
	return text == "" || text == "null" // as Go writes none
}

// finish ends the answer for one of the reasons that servers have.
func (a *answer) finish(r *reply, reason string, stopReason json.RawMessage) error {
	if a.calls.pending() {
		return r.malformed("a call has no name")
	}
	reason = strings.ToLower(reason)
	leave := a.leaveWhole
	if slices.Contains(lengths(), reason) {
		leave = a.leave // what came of a call is all there is
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
			return lasting(engine.CodeUnsupported, "The server of the model gave an answer without the call that was required.").
				At(engine.Place{Field: engine.FieldToolChoice})
		}
	case "content_filter":
		return lasting(engine.CodeUnsupported, "The server of the model holds back the rest of the answer, as its filter does not like it.")
	default:
		if !slices.Contains(lengths(), reason) {
			return engine.Errorf(engine.CodeEngineCrashed, "The server of the model has broken off its answer.").
				Because(fmt.Errorf("finish_reason %q", reason))
		}
		out.Reason = engine.FinishMaxTokens
	}
	return a.emit(out)
}

// lengths are the reasons of an answer that is as long as it may be.
func lengths() []string {
	return []string{"length", "max_tokens", "model_length"} // the last one is Mistral's
}

// stopped is the stop string that ended the answer, where the server tells:
// the style has no place for it, so most do not.
func (a *answer) stopped(stopReason json.RawMessage) string {
	var s string
	if json.Unmarshal(stopReason, &s) != nil || !slices.Contains(a.stop, s) {
		return ""
	}
	return s
}
