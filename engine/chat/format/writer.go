package format

import (
	"bytes"
	"regexp"

	"github.com/diglot/diglot/engine"
)

// writer makes the events of one choice. A block opens with its first content.
type writer struct {
	choice int
	newID  func() string

	events  []engine.Event // not yet taken
	open    engine.BlockKind
	started bool // BlockStart of the open block was sent
	index   int  // of the open block, or the next
	calls   int
	ids     map[string]bool // call ids in the conversation and this answer
	stopped bool
	stop    string // the stop string

	text      textBuffer // of the open text or reasoning block
	stops     []string
	holdSpace bool
	arguments textBuffer // of the open call
	written   bool       // the open call has arguments

	tokens tokenLedger
}

// take returns the events so far.
func (w *writer) take() []engine.Event {
	events := w.events
	w.events = nil
	return events
}

// echo emits the prompt as text, in which stop strings do not count.
func (w *writer) echo(text string, tokens []engine.TokenLogprob) {
	if text == "" {
		return
	}
	w.begin(engine.BlockText, w.stops)
	w.started = true
	w.add(engine.BlockStart{Choice: w.choice, Index: w.index, Kind: w.open})
	w.add(engine.TextDelta{Choice: w.choice, Index: w.index, Text: text, Logprobs: tokens})
}

// textAt adds text at an offset of the raw output. Stop strings apply to text
// alone: reasoning is not part of the answer, and arguments cut at a stop string
// would be invalid JSON.
func (w *writer) textAt(b []byte, at int) {
	w.begin(engine.BlockText, w.stops)
	w.tokens.text(at, len(b))
	show, stop := w.text.add(b)
	w.show(show)
	if stop != "" {
		w.stopped, w.stop = true, stop
		w.text.held = nil
	}
}

// reasoningAt adds reasoning at an offset of the raw output.
func (w *writer) reasoningAt(b []byte, at int) {
	w.begin(engine.BlockReasoning, nil)
	w.tokens.reasoning(at, len(b))
	show, _ := w.text.add(b)
	w.show(show)
}

// begin makes kind the open block. Its start is sent with its first text, so empty
// reasoning makes no block.
func (w *writer) begin(kind engine.BlockKind, stops []string) {
	if w.open == kind {
		return
	}
	w.endProse(true)
	w.open, w.started = kind, false
	w.text = textBuffer{stops: stops, holdSpace: w.holdSpace}
}

func (w *writer) show(s string) {
	if s == "" {
		return
	}
	if !w.started {
		w.started = true
		w.add(engine.BlockStart{Choice: w.choice, Index: w.index, Kind: w.open})
	}
	if w.open == engine.BlockReasoning {
		w.add(engine.ReasoningDelta{Choice: w.choice, Index: w.index, Text: s})
		return
	}
	w.add(engine.TextDelta{Choice: w.choice, Index: w.index, Text: s, Logprobs: w.tokens.shown(len(w.text.held))})
}

// endProse closes an open block of text or reasoning.
func (w *writer) endProse(trim bool) {
	if w.open == "" {
		return
	}
	if trim {
		w.show(w.text.trimmed())
	} else {
		w.show(w.text.rest())
	}
	w.tokens.forget()
	w.close()
}

func (w *writer) close() {
	if w.started {
		w.add(engine.BlockStop{Choice: w.choice, Index: w.index})
		w.index++
	}
	w.open, w.started = "", false
}

// legalID is what every API style accepts as a call id, with its prefix.
var legalID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// callStart opens a call. An id that the model wrote is kept if it is valid and
// unique in the conversation: some models repeat one id.
func (w *writer) callStart(id, name string) {
	w.endProse(true)
	if !legalID.MatchString(id) || w.ids[id] {
		id = w.newID()
	}
	if w.ids == nil {
		w.ids = map[string]bool{}
	}
	w.ids[id] = true
	w.open, w.started, w.written = engine.BlockToolCall, true, false
	w.arguments = textBuffer{}
	w.calls++
	w.add(engine.BlockStart{Choice: w.choice, Index: w.index, Kind: w.open, CallID: id, Name: name})
}

// callArguments appends to the arguments, which are JSON.
func (w *writer) callArguments(b []byte) {
	show, _ := w.arguments.add(b)
	w.showArguments(show)
}

func (w *writer) showArguments(s string) {
	if s == "" {
		return
	}
	w.written = true
	w.add(engine.ToolCallDelta{Choice: w.choice, Index: w.index, Arguments: s})
}

// callEnd closes a complete call. Without arguments it gets {}, which clients can
// parse.
func (w *writer) callEnd() {
	w.showArguments(w.arguments.rest())
	if !w.written {
		w.showArguments(engine.NoArguments)
	}
	w.close()
}

// callCut closes a truncated call. A model that ends its turn after the name of a
// tool means a call without arguments.
func (w *writer) callCut(reason engine.FinishReason) {
	w.showArguments(w.arguments.rest())
	if !w.written && reason == engine.FinishEndOfTurn {
		w.showArguments(engine.NoArguments)
	}
	w.close()
}

// finish closes the open block and emits the finish reason.
func (w *writer) finish(reason engine.FinishReason) {
	if w.open == engine.BlockToolCall {
		w.callCut(reason)
	}
	w.endProse(w.open == engine.BlockReasoning)
	switch {
	case w.stopped:
		w.add(engine.Finish{Choice: w.choice, Reason: engine.FinishStopSequence, StopSequence: w.stop})
	case w.calls > 0 && reason == engine.FinishEndOfTurn:
		w.add(engine.Finish{Choice: w.choice, Reason: engine.FinishToolCalls})
	default:
		w.add(engine.Finish{Choice: w.choice, Reason: reason})
	}
}

func (w *writer) add(e engine.Event) { w.events = append(w.events, e) }

// tokenLedger assigns the tokens of the raw output to blocks, for log
// probabilities and the count of reasoning tokens.
type tokenLedger struct {
	report     bool // keep log probabilities
	end        int  // length of the raw output so far
	waiting    []tokenEntry
	reasoned   int // tokens with at least one byte of reasoning
	pending    []pendingToken
	textLength int // bytes of the open text block
}

type tokenEntry struct {
	end       int // in the raw output
	logprob   engine.TokenLogprob
	reported  bool
	reasoning bool
}

// pendingToken is a token whose text is not sent yet.
type pendingToken struct {
	at      int // offset of its first byte in the block
	logprob engine.TokenLogprob
}

// add appends a token of the output.
func (l *tokenLedger) add(t engine.TokenLogprob) {
	l.end += len(t.Token)
	if len(t.Token) == 0 {
		return // belongs to no block
	}
	e := tokenEntry{end: l.end}
	if l.report {
		t.Token = bytes.Clone(t.Token)
		e.logprob = t
	}
	l.waiting = append(l.waiting, e)
}

// reasoning assigns n bytes at an offset to a reasoning block.
func (l *tokenLedger) reasoning(at, n int) {
	l.visit(at, n, func(e *tokenEntry, _ int) {
		if !e.reasoning {
			e.reasoning = true
			l.reasoned++
		}
	})
}

// text assigns n bytes at an offset to the open text block.
func (l *tokenLedger) text(at, n int) {
	l.visit(at, n, func(e *tokenEntry, start int) {
		if l.report && !e.reported {
			e.reported = true
			l.pending = append(l.pending, pendingToken{at: l.textLength + start - at, logprob: e.logprob})
		}
	})
	l.textLength += n
}

// visit calls f with each token that overlaps the n bytes at an offset, and where
// the overlap begins. It drops the tokens that end there or before.
func (l *tokenLedger) visit(at, n int, f func(*tokenEntry, int)) {
	start := at
	for len(l.waiting) > 0 {
		e := &l.waiting[0]
		if e.end > at {
			if start >= at+n {
				return
			}
			f(e, start)
			if e.end > at+n {
				return
			}
			start = e.end
		}
		l.waiting = l.waiting[1:]
	}
}

// shown returns the pending tokens of all text but the last held bytes.
func (l *tokenLedger) shown(held int) []engine.TokenLogprob {
	var out []engine.TokenLogprob
	for len(l.pending) > 0 && l.pending[0].at < l.textLength-held {
		out = append(out, l.pending[0].logprob)
		l.pending = l.pending[1:]
	}
	return out
}

// forget drops the pending tokens of a block that ends.
func (l *tokenLedger) forget() { l.pending, l.textLength = nil, 0 }
