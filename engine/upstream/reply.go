package upstream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/budget"
)

// watched is the body of a reply that may not be silent for too long. Only
// the time that is spent reading counts, as a slow client of ours is not the
// server's fault.
type watched struct {
	in     io.ReadCloser
	ctx    context.Context // of the try
	cancel context.CancelCauseFunc
	limit  time.Duration // of the next silence
	idle   time.Duration // of the ones after it
	barren time.Duration // of signs of life alone
	spent  time.Duration // reading, since there was content
}

func (w *watched) Read(p []byte) (int, error) {
	begun := time.Now()
	timer := time.AfterFunc(min(w.limit, w.barren-w.spent), func() { w.cancel(errSilent) })
	n, err := w.in.Read(p)
	timer.Stop()
	w.spent += time.Since(begun)
	if n > 0 {
		w.limit = w.idle
	}
	if err != nil && err != io.EOF && errors.Is(context.Cause(w.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

// progress notes that there was content.
func (w *watched) progress() { w.spent = 0 }

// endSoon gives the server little time for what comes behind the end.
func (w *watched) endSoon() (stop func() bool) {
	return time.AfterFunc(maxDrain, func() { w.cancel(errSilent) }).Stop
}

func (w *watched) Close() error {
	w.cancel(nil)
	return w.in.Close()
}

// reply is a request that the server has accepted, as far as its status says.
type reply struct {
	header http.Header
	in     *watched
	sent   *body
	engine *Engine
	ctx    context.Context // of the request
	op     operation
	key    string // that was sent, to keep it out of errors

	share   *budget.Share // of the memory of all replies
	decoded int           // bytes that there is memory for to decode texts to

	text   []byte // of a reply that is one JSON value
	ended  bool   // nothing comes behind it
	frames *frames
	first  frame // of a stream, until it is taken
	held   bool  // first was not taken yet
	err    error // in the place of the text or the first frame
}

func (r *reply) close() {
	_ = r.in.Close()
	r.share.Release()
}

// errFull says that other replies have all the memory.
var errFull = errors.New("the replies under way take all memory that there is for them")

// open reads the beginning: all of a reply that is one JSON value, or the
// first frame of a stream. Which of them it is the first byte tells: what
// servers and those before them say of its type is not always so. An error
// that the server tells there is as good as one by status: ok is false.
func (r *reply) open() (told refusal, ok bool) {
	in := bufio.NewReaderSize(r.in, 16<<10)
	if isWhole(in) {
		r.readWhole(in, max(r.op.limit, maxReply))
		if (r.err == nil || r.err == errBehind) && len(r.text) <= maxRefusal && tellsError(r.text) {
			return r.refusal(r.text), false
		}
		return refusal{}, true
	}
	r.frames = newFrames(in, r.engine.maxStream, r.share)
	r.first, r.err = r.frames.next()
	r.held = true
	if r.err == nil && r.first.tellsError() {
		return r.refusal(r.first.data), false
	}
	return refusal{}, true
}

// isWhole reports whether the first byte begins a JSON value. A byte that cannot
// be read begins none.
func isWhole(in *bufio.Reader) bool {
	for n := 1; n <= in.Size(); n++ {
		head, err := in.Peek(n)
		if err != nil {
			return false
		}
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
		if len(head) > 0 && (head[0] < 0x80 || len(head) > 2) {
			return head[0] == '{' || head[0] == '['
		}
	}
	return false
}

// readWhole reads one JSON value, and does not wait for the end of a connection
// that stays open behind it. What else is there makes it no reply.
func (r *reply) readWhole(in *bufio.Reader, limit int64) {
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		_, _ = in.Discard(len(mark))
	}
	limited := &limited{in: in, left: limit, share: r.share}
	values := jsontext.NewDecoder(limited, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	r.text, r.err = values.ReadValue()
	r.in.progress()
	if r.err != nil {
		if limited.err != nil {
			r.err = limited.err // the decoder takes it for one of syntax
		}
		return
	}
	r.text = bytes.Clone(r.text)
	stop := r.in.endSoon()
	defer stop()
	_, err := values.ReadToken()
	r.ended = err == io.EOF
	if syntax := (*jsontext.SyntacticError)(nil); limited.err == nil && (err == nil || errors.As(err, &syntax)) {
		r.err = errBehind
	}
}

// limited is a reader that fails beyond so many bytes, or so much memory.
type limited struct {
	in    io.Reader
	left  int64
	share *budget.Share
	err   error // of reading, other than the end
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	switch l.left -= int64(n); {
	case l.left < 0:
		n, err = 0, errLong // with bytes the decoder would not look at it
	case !l.share.Reserve(int64(weight * n)):
		n, err = 0, errFull
	}
	if err != io.EOF {
		l.err = err
	}
	return n, err
}

// next returns the next frame of a stream.
func (r *reply) next() (frame, error) {
	if r.held {
		r.held = false
		return r.first, r.err
	}
	return r.frames.next()
}

// drain reads what comes after the end, which is nothing, so that the
// connection can be used again. A server that says no more has little time
// for it.
func (r *reply) drain() {
	stop := r.in.endSoon()
	defer stop()
	_, _ = io.CopyN(io.Discard, r.in, 4<<10)
}

// whole reports whether the reply is one JSON value: some servers do not stream.
func (r *reply) whole() bool { return r.frames == nil }

// decode reads a reply that is one JSON value.
func (r *reply) decode(value any) error {
	switch {
	case !r.whole():
		return r.malformed("it is no JSON value")
	case unreadable(r.err):
		return r.malformed(r.err.Error())
	case r.err != nil:
		return r.broken(r.err)
	}
	if !r.weigh(r.text) {
		return r.broken(errFull)
	}
	if err := json.Unmarshal(r.text, value); err != nil {
		return r.malformed(err.Error())
	}
	return nil
}

// unreadable reports whether an error is of what was read rather than of reading.
func unreadable(err error) bool {
	syntax := (*jsontext.SyntacticError)(nil)
	return errors.As(err, &syntax) || slices.ContainsFunc([]error{errLong, errFrame, errNoise, errBehind}, func(known error) bool { return errors.Is(err, known) })
}

// start is the first event of the reply, as far as its headers tell it.
func (r *reply) start() engine.Start {
	places, ignored := readIgnored(r.header.Get("Diglot-Ignored"), r.sent)
	used := r.sent.used
	for _, name := range ignored {
		forget(&used, name)
	}
	return engine.Start{Unenforced: places, Ignored: append(ignored, r.sent.ignored...), Used: used}
}

// forget leaves out a parameter that the server ignores.
func forget(used *engine.Used, name string) {
	if name == reasoningEffort {
		used.Reasoning = engine.Reasoning{}
	}
	for p := range engine.SamplingParams() {
		if p.Name == name {
			p.Set(&used.Sampling, nil)
		}
	}
}
