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

// timedBody is a response body with read timeouts. Only time spent reading counts:
// a slow client of ours is not the server's fault.
type timedBody struct {
	in          io.ReadCloser
	ctx         context.Context // of the attempt
	cancel      context.CancelCauseFunc
	limit       time.Duration // timeout of the next read
	idle        time.Duration // timeout of the reads after it
	contentless time.Duration // timeout of keep-alives without content
	spent       time.Duration // reading, since the last content
}

func (w *timedBody) Read(p []byte) (int, error) {
	begun := time.Now()
	timer := time.AfterFunc(min(w.limit, w.contentless-w.spent), func() { w.cancel(errTimeout) })
	n, err := w.in.Read(p)
	timer.Stop()
	w.spent += time.Since(begun)
	if n > 0 {
		w.limit = w.idle
	}
	if err != nil && err != io.EOF && errors.Is(context.Cause(w.ctx), errTimeout) {
		err = errTimeout
	}
	return n, err
}

// progress records that there was content.
func (w *timedBody) progress() { w.spent = 0 }

// endSoon sets a short timeout for what follows the end.
func (w *timedBody) endSoon() (stop func() bool) {
	return time.AfterFunc(maxDrain, func() { w.cancel(errTimeout) }).Stop
}

func (w *timedBody) Close() error {
	w.cancel(nil)
	return w.in.Close()
}

// reply is a reply with status 200, or one not yet known to be an error.
type reply struct {
	header http.Header
	in     *timedBody
	sent   *body
	engine *Engine
	ctx    context.Context // of the request
	op     operation
	key    string // the key sent, to keep it out of errors

	share   *budget.Share // of [Config.Memory]
	decoded int           // memory reserved for decoded values, in bytes

	text   []byte // the JSON value, if it is not a stream
	ended  bool   // nothing follows it
	frames *frames
	first  frame // of a stream
	held   bool  // first was not returned yet
	err    error // instead of text or first
}

func (r *reply) close() {
	_ = r.in.Close()
	r.share.Release()
}

// errFull means that [Config.Memory] is used up.
var errFull = errors.New("the replies in progress use all the memory reserved for them")

// open reads a whole JSON value or the first frame of a stream. The first byte
// decides which: the Content-Type of servers and proxies is not reliable. If it
// is an error, ok is false, as for an error status.
func (r *reply) open() (refused refusal, ok bool) {
	in := bufio.NewReaderSize(r.in, 16<<10)
	if isWhole(in) {
		r.readWhole(in, max(r.op.limit, maxReply))
		if (r.err == nil || r.err == errBehind) && len(r.text) <= maxRefusal && isErrorValue(r.text) {
			return r.refusal(r.text), false
		}
		return refusal{}, true
	}
	r.frames = newFrames(in, r.engine.maxStream, r.share)
	r.first, r.err = r.frames.next()
	r.held = true
	if r.err == nil && r.first.isError() {
		return r.refusal(r.first.data), false
	}
	return refusal{}, true
}

// isWhole reports whether the body is a JSON object or array, not a stream.
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

// readWhole reads one JSON value without waiting for the server to end the body.
// More data after it is an error.
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
			r.err = limited.err // the decoder reports it as a syntax error
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

// limited is a reader that fails beyond a size, or without memory.
type limited struct {
	in    io.Reader
	left  int64
	share *budget.Share
	err   error // of reading, except io.EOF
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	switch l.left -= int64(n); {
	case l.left < 0:
		n, err = 0, errLong // with n > 0 the decoder would ignore the error
	case !l.share.Reserve(int64(byteWeight * n)):
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

// drain reads up to the end of the body, so that the connection can be reused,
// with a short timeout.
func (r *reply) drain() {
	stop := r.in.endSoon()
	defer stop()
	_, _ = io.CopyN(io.Discard, r.in, 4<<10)
}

// whole reports whether the reply is one JSON value: some servers do not stream.
func (r *reply) whole() bool { return r.frames == nil }

// decode decodes a reply that is one JSON value.
func (r *reply) decode(value any) error {
	switch {
	case !r.whole():
		return r.malformed("it is not a JSON value")
	case unreadable(r.err):
		return r.malformed(r.err.Error())
	case r.err != nil:
		return r.interrupted(r.err)
	}
	if !r.reserve(r.text) {
		return r.interrupted(errFull)
	}
	if err := json.Unmarshal(r.text, value); err != nil {
		return r.malformed(err.Error())
	}
	return nil
}

// unreadable reports whether the data is invalid, rather than reading failed.
func unreadable(err error) bool {
	syntax := (*jsontext.SyntacticError)(nil)
	return errors.As(err, &syntax) || slices.ContainsFunc([]error{errLong, errFrame, errNoise, errBehind}, func(known error) bool { return errors.Is(err, known) })
}

// start returns the first event of the reply, as far as the headers tell.
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
