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

// maxReply limits a reply that is not streamed, in bytes.
const maxReply = 64 << 20

// trailerTimeout is the timeout for usage and [DONE] after all choices have finished.
const trailerTimeout = 10 * time.Second

var errOdd = errors.New("it ends without a finish_reason, after unknown data")

// maxStream limits a streamed reply, in bytes, comments included: some hundred
// thousand tokens. A model that does not stop would otherwise fill the memory if
// the client does not stream.
const maxStream = 256 << 20

// converter turns the chunks of one reply into events.
type converter struct {
	start        engine.Start
	started      bool
	usage        *counts         // latest
	closingUsage map[int]*counts // latest in chunks without choices, by number of finished choices
	processed    count           // prompt tokens
	unknown      bool            // a chunk had unknown content
	answers      []*answer
	emit         func(engine.Event) error
}

func newConverter(req *engine.Request, start engine.Start, emit func(engine.Event) error) *converter {
	t := &converter{start: start, emit: emit, closingUsage: map[int]*counts{}}
	for i := range max(1, req.Choices) {
		t.answers = append(t.answers, newAnswer(i, req, emit))
	}
	return t
}

var doneMark = []byte(wire.ChatCompletionDoneFrameDataDONE)

// stream reads chunks until [DONE]. Some servers close the connection instead,
// which is accepted only after all choices have finished.
func (t *converter) stream(r *reply) error {
	var last *time.Timer
	for {
		f, err := r.next()
		switch {
		case err != nil && r.ctx.Err() == nil && t.finished():
			return t.end()
		case unreadable(err):
			return r.malformed(err.Error())
		case err != nil:
			return r.interrupted(err)
		}
		if ended, err := t.read(r, f); ended || err != nil {
			return err
		}
		if last == nil && t.finished() {
			last = time.AfterFunc(r.engine.trailerTimeout, func() { r.in.cancel(errTimeout) })
			defer last.Stop()
		}
	}
}

// read handles a frame, and reports whether it ends the reply.
func (t *converter) read(r *reply, f frame) (ended bool, err error) {
	if f.failed {
		return false, r.streamError(f.data)
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
		if !r.reserve(value) {
			return false, r.interrupted(errFull)
		}
		var c chunk
		err := json.Unmarshal(value, &c)
		switch {
		case err != nil && isErrorValue(value) || err == nil && c.isError(c.content()):
			return false, r.streamError(value)
		case err != nil:
			return false, r.malformed(err.Error())
		case !c.content():
			t.unknown = t.unknown || present(value) // a keep-alive, or an error of an unknown form
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

// advances reports whether a chunk makes progress, unlike a keep-alive.
func (t *converter) advances(c chunk) bool {
	if c.Progress != nil && c.Progress.Processed > t.processed {
		t.processed = c.Progress.Processed
		return true
	}
	return slices.ContainsFunc(c.Choices, choice.advances)
}

// whole reads a reply that is not streamed as one chunk.
func (t *converter) whole(r *reply) error {
	var c chunk
	if err := r.decode(&c); err != nil {
		return err
	}
	if err := t.add(r, c); err != nil {
		return err
	}
	return t.close(r)
}

func (t *converter) add(r *reply, c chunk) error {
	t.count(c)
	if err := t.begin(c); err != nil {
		return err
	}
	for _, choice := range c.Choices {
		if present(choice.Error) {
			return r.streamError(choice.Error)
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

// count keeps the latest usage. llama-server sends one for each choice after its
// end, and those add up. A second one before another choice has finished is a
// running total or a repetition.
func (t *converter) count(c chunk) {
	if c.Usage == nil {
		return
	}
	t.usage = c.Usage
	if n := t.ended(); n > 0 && len(c.Choices) == 0 {
		t.closingUsage[n] = c.Usage
	}
}

// total returns the usage of all choices.
func (t *converter) total() *counts {
	if len(t.closingUsage) == 0 {
		return t.usage
	}
	out := *t.closingUsage[slices.Max(slices.Collect(maps.Keys(t.closingUsage)))]
	var reasoning count
	out.CompletionTokens = 0
	for _, c := range t.closingUsage {
		out.CompletionTokens += max(0, c.CompletionTokens)
		if d := c.CompletionTokensDetails; d != nil {
			reasoning += max(0, d.ReasoningTokens)
		}
	}
	out.CompletionTokensDetails = &completeUsage{ReasoningTokens: reasoning}
	return &out
}

// begin emits Start with the first chunk: the request is admitted, and the chunk
// may have the number of prompt tokens.
func (t *converter) begin(c chunk) error {
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

func (t *converter) finished() bool { return t.started && t.ended() == len(t.answers) }

// ended returns the number of finished choices.
func (t *converter) ended() int {
	n := 0
	for _, a := range t.answers {
		if a.finished {
			n++
		}
	}
	return n
}

// close ends a reply that the server has marked as complete. A choice without a
// finish_reason counts as stopped, unless unknown data came, which may have been
// the reason. A choice without any delta is missing.
func (t *converter) close(r *reply) error {
	for i, a := range t.answers {
		if a.finished {
			continue
		}
		if !a.begun {
			if i == 0 {
				return r.malformed("it has no choices")
			}
			return engine.Errorf(engine.CodeUnsupported, "The model's server returned %d of %d choices.", i, len(t.answers))
		}
		if t.unknown || r.whole() && !r.ended || !r.whole() && r.frames.unknownLines {
			return r.interrupted(errOdd)
		}
		if err := a.finish(r, "stop", nil); err != nil {
			return err
		}
	}
	return t.end()
}

func (t *converter) end() error {
	return t.emit(engine.Done{Usage: toUsage(t.total(), t.start.PromptTokens)})
}

// toUsage keeps usage consistent with Start, and parts within their totals.
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
