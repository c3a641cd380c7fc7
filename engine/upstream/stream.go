package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

// maxReply is the most bytes of a reply that is not streamed.
const maxReply = 64 << 20

// lastWords is how long a server may go on once all answers have ended: it may
// still count, and mark the end.
const lastWords = 10 * time.Second

var errOdd = errors.New("no reason was given for the end, and something unknown came before it")

// maxStream is the most bytes of a streamed reply, comments and all: some
// hundred thousand tokens. A server whose model finds no end would otherwise fill the
// memory of this one, where the client wants the reply as a whole.
const maxStream = 256 << 20

// teller turns the chunks of one reply into events.
type teller struct {
	start     engine.Start
	started   bool
	usage     *counts         // the latest
	closing   map[int]*counts // the latest without an answer beside them, by how many answers had ended
	processed count           // of the prompt
	odd       bool            // something came that is no part of a reply
	answers   []*answer
	emit      func(engine.Event) error
}

func newTeller(req *engine.Request, start engine.Start, emit func(engine.Event) error) *teller {
	t := &teller{start: start, emit: emit, closing: map[int]*counts{}}
	for i := range max(1, req.Choices) {
		t.answers = append(t.answers, newAnswer(i, req, emit))
	}
	return t
}

var doneMark = []byte(wire.ChatCompletionDoneFrameDataDONE)

// stream reads chunks until the done mark. Some servers close the connection
// instead, which is an end only when all answers have finished.
func (t *teller) stream(r *reply) error {
	var last *time.Timer
	for {
		f, err := r.next()
		switch {
		case err != nil && r.ctx.Err() == nil && t.finished():
			return t.end()
		case unreadable(err):
			return r.malformed(err.Error())
		case err != nil:
			return r.broken(err)
		}
		if ended, err := t.read(r, f); ended || err != nil {
			return err
		}
		if last == nil && t.finished() {
			last = time.AfterFunc(r.engine.lastWords, func() { r.in.cancel(errSilent) })
			defer last.Stop()
		}
	}
}

// read takes a frame, and reports whether it ends the reply.
func (t *teller) read(r *reply, f frame) (ended bool, err error) {
	if f.failed {
		return false, r.told(f.data)
	}
	for value := range f.values() {
		if r.frames.noise += len(value); r.frames.noise > maxNoise+maxFrame {
			return false, r.malformed(errNoise.Error())
		}
		if bytes.Equal(value, doneMark) {
			err := t.close(r)
			r.drain()
			return true, err
		}
		if f.noise(value) {
			continue
		}
		if !r.weigh(value) {
			return false, r.broken(errFull)
		}
		var c chunk
		err := json.Unmarshal(value, &c)
		switch {
		case err != nil && tellsError(value) || err == nil && c.tells(c.content()):
			return false, r.told(value)
		case err != nil:
			return false, r.malformed(err.Error())
		case !c.content():
			t.odd = t.odd || present(value) // a sign of life, or an error in words that nobody knows
			continue
		}
		if t.advances(c) {
			r.in.progress()
			r.frames.noise = 0
		}
		if err := t.add(r, c); err != nil {
			return false, err
		}
	}
	return false, nil
}

// advances reports whether a chunk brings the answers forward, rather than only
// showing that the server lives.
func (t *teller) advances(c chunk) bool {
	if c.Progress != nil && c.Progress.Processed > t.processed {
		t.processed = c.Progress.Processed
		return true
	}
	return slices.ContainsFunc(c.Choices, choice.advances)
}

// whole reads a reply that is not streamed, as one chunk.
func (t *teller) whole(r *reply) error {
	var c chunk
	if err := r.decode(&c); err != nil {
		return err
	}
	if err := t.add(r, c); err != nil {
		return err
	}
	return t.close(r)
}

func (t *teller) add(r *reply, c chunk) error {
	t.count(c)
	if err := t.begin(c); err != nil {
		return err
	}
	for _, choice := range c.Choices {
		if present(choice.Error) {
			return r.told(choice.Error)
		}
		if choice.Index < 0 || int(choice.Index) >= len(t.answers) {
			return r.malformed(fmt.Sprintf("choice %d of %d", choice.Index, len(t.answers)))
		}
		if err := t.answers[choice.Index].add(r, choice); err != nil {
			return err
		}
	}
	return nil
}

// count keeps the latest counts. llama-server tells those of each choice by
// itself, behind its end: then they add up. What is told again before another
// answer has ended is of the same answers: a sum so far, or a repetition.
func (t *teller) count(c chunk) {
	if c.Usage == nil {
		return
	}
	t.usage = c.Usage
	if n := t.ended(); n > 0 && len(c.Choices) == 0 {
		t.closing[n] = c.Usage
	}
}

// total is what all counts say together.
func (t *teller) total() *counts {
	if len(t.closing) == 0 {
		return t.usage
	}
	out := *t.closing[slices.Max(slices.Collect(maps.Keys(t.closing)))]
	var reasoning count
	out.CompletionTokens = 0
	for _, c := range t.closing {
		out.CompletionTokens += max(0, c.CompletionTokens)
		if d := c.CompletionTokensDetails; d != nil {
			reasoning += max(0, d.ReasoningTokens)
		}
	}
	out.CompletionTokensDetails = &completeUsage{ReasoningTokens: reasoning}
	return &out
}

// begin sends the first event with the first chunk: the request is admitted,
// and the chunk may tell how long the prompt is.
func (t *teller) begin(c chunk) error {
	if t.started {
		return nil
	}
	t.started = true
	switch {
	case c.Progress != nil:
		t.start.PromptTokens = int(max(0, c.Progress.Total))
	case c.Usage != nil:
		t.start.PromptTokens = int(max(0, c.Usage.PromptTokens))
	}
	return t.emit(t.start)
}

func (t *teller) finished() bool { return t.started && t.ended() == len(t.answers) }

// ended is how many answers have ended.
func (t *teller) ended() int {
	n := 0
	for _, a := range t.answers {
		if a.finished {
			n++
		}
	}
	return n
}

// close ends a reply that the server has marked as whole. An answer that has
// begun and was given no reason has ended by itself, unless what nobody
// understands came before the mark: that may have told why. One that has not
// begun was never given.
func (t *teller) close(r *reply) error {
	for i, a := range t.answers {
		if a.finished {
			continue
		}
		if !a.begun {
			if i == 0 {
				return r.malformed("it has no answer")
			}
			return engine.Errorf(engine.CodeUnsupported, "The server of the model gives %d of the %d answers that were asked for.", i, len(t.answers))
		}
		if t.odd || r.whole() && !r.ended || !r.whole() && r.frames.odd {
			return r.broken(errOdd)
		}
		if err := a.finish(r, "stop", nil); err != nil {
			return err
		}
	}
	return t.end()
}

func (t *teller) end() error {
	return t.emit(engine.Done{Usage: toUsage(t.total(), t.start.PromptTokens)})
}

// toUsage keeps to what was said at the start, and to sums that are possible.
func toUsage(u *counts, prompt int) engine.Usage {
	out := engine.Usage{PromptTokens: prompt}
	if u == nil {
		return out
	}
	if prompt == 0 {
		out.PromptTokens = int(max(0, u.PromptTokens))
	}
	out.CompletionTokens = int(max(0, u.CompletionTokens))
	if d := u.PromptTokensDetails; d != nil {
		out.CachedTokens = min(int(max(0, d.CachedTokens)), out.PromptTokens)
	}
	if d := u.CompletionTokensDetails; d != nil {
		out.ReasoningTokens = min(int(max(0, d.ReasoningTokens)), out.CompletionTokens)
	}
	return out
}
