package format

import (
	"bytes"
	"regexp"

	"github.com/diglot/diglot/engine"
)

// writer makes the events of one choice: it opens blocks when there is
// something to put into them, closes them, and counts.
type writer struct {
	choice int
	newID  func() string

	events  []engine.Event // not yet handed on
	open    engine.BlockKind
	started bool // BlockStart of the open block was sent
	index   int  // of the open block, or the next
	calls   int
	ids     map[string]bool // of calls in the conversation, this answer's too
	stopped bool
	stop    string // what stopped it

	text      textBuffer // of the open text or reasoning block
	stops     []string
	holdSpace bool
	arguments textBuffer // of the open call
	written   bool       // arguments came

	tokens tokenLedger
}

// take hands the events on.
func (w *writer) take() []engine.Event {
	events := w.events
	w.events = nil
	return events
}

// echo begins the answer with its prompt, in which stop strings mean nothing.
func (w *writer) echo(text string, tokens []engine.TokenLogprob) {
	if text == "" {
		return
	}
	w.begin(engine.BlockText, w.stops)
	w.started = true
	w.add(engine.BlockStart{Choice: w.choice, Index: w.index, Kind: w.open})
	w.add(engine.TextDelta{Choice: w.choice, Index: w.index, Text: text, Logprobs: tokens})
}

// textAt adds text that stands at a place of the raw output. Stop strings
// are looked for here alone: they end what the client reads as the answer's
// text. Reasoning is not part of that, and a stop string cut out of arguments
// would leave JSON that nobody can read.
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

// reasoningAt adds reasoning that stands at a place of the raw output.
func (w *writer) reasoningAt(b []byte, at int) {
	w.begin(engine.BlockReasoning, nil)
	w.tokens.reasoning(at, len(b))
	show, _ := w.text.add(b)
	w.show(show)
}

// begin makes kind the open block. Its start is sent with its first text, so
// that an empty pair of markers leaves no block.
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
		rest := w.text.trimmed()
		w.show(rest)
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

// legalID is what every style allows as the id of a call, its prefix in front.
var legalID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// callStart opens a call. Formats that let the model write ids pass one. It is
// kept where it is an id by which a client can tell this call from all others:
// models also write the same one each time.
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

// callArguments adds a piece of the JSON text of the arguments.
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

// callEnd closes a complete call. One without arguments has an empty object,
// so that a client can always parse them.
func (w *writer) callEnd() {
	w.showArguments(w.arguments.rest())
	if !w.written {
		w.showArguments("{}")
	}
	w.close()
}

// callCut closes a call that ended early: what came is what the client gets. A
// model that ends its turn behind the name of a tool has no more to say to it.
func (w *writer) callCut(reason engine.FinishReason) {
	w.showArguments(w.arguments.rest())
	if !w.written && reason == engine.FinishEndOfTurn {
		w.showArguments(engine.NoArguments)
	}
	w.close()
}

// finish closes what is open and says why the answer ended.
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

// tokenLedger knows which tokens the raw output is made of, until their bytes
// have found a block.
type tokenLedger struct {
	report     bool // log probabilities are wanted
	end        int  // of the raw output so far
	waiting    []tokenEntry
	reasoned   int // tokens with at least one byte in a reasoning block
	pending    []pendingToken
	textLength int // bytes of the open text block that came
}

type tokenEntry struct {
	end       int // in the raw output
	logprob   engine.TokenLogprob
	reported  bool
	reasoning bool
}

// pendingToken waits for its text to be shown.
type pendingToken struct {
	at      int // of its first byte in the text of the block
	logprob engine.TokenLogprob
}

// add enters the next token of the output.
func (l *tokenLedger) add(t engine.TokenLogprob) {
	l.end += len(t.Token)
	if len(t.Token) == 0 {
		return // stands for no text, and belongs to none
	}
	e := tokenEntry{end: l.end}
	if l.report {
		t.Token = bytes.Clone(t.Token)
		e.logprob = t
	}
	l.waiting = append(l.waiting, e)
}

// reasoning says that n bytes at a place went into a reasoning block.
func (l *tokenLedger) reasoning(at, n int) {
	l.visit(at, n, func(e *tokenEntry, _ int) {
		if !e.reasoning {
			e.reasoning = true
			l.reasoned++
		}
	})
}

// text says that n bytes at a place are the next of the open text block.
func (l *tokenLedger) text(at, n int) {
	l.visit(at, n, func(e *tokenEntry, start int) {
		if l.report && !e.reported {
			e.reported = true
			l.pending = append(l.pending, pendingToken{at: l.textLength + start - at, logprob: e.logprob})
		}
	})
	l.textLength += n
}

// visit calls f with each token that has a byte in the n bytes at a place, and
// where its part of them begins; it drops the tokens that end before or there.
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

// shown returns the tokens of the text that was shown, where the last held
// bytes of it were not.
func (l *tokenLedger) shown(held int) []engine.TokenLogprob {
	var out []engine.TokenLogprob
	for len(l.pending) > 0 && l.pending[0].at < l.textLength-held {
		out = append(out, l.pending[0].logprob)
		l.pending = l.pending[1:]
	}
	return out
}

// forget drops what is left of a block that ends.
func (l *tokenLedger) forget() { l.pending, l.textLength = nil, 0 }
