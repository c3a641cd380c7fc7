package runner

import (
	"fmt"
	"io"
	"iter"
	"sync"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// maxListed limits the lists in a Start.
const maxListed = 1000

// sender sends messages; it is safe for concurrent use.
type sender struct {
	mu        sync.Mutex
	conn      io.Writer
	buf       []byte
	answering bool // a call is accepted, and its last message not sent
}

// send sends a message and the bytes that it announces.
func (s *sender) send(m message, behind []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(m, behind)
}

// begin accepts a call.
func (s *sender) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answering = true
	return s.write(accepted{}, nil)
}

// beat sends a heartbeat, but not behind the last message of a call: the client would
// take it for the beginning of the next answer.
func (s *sender) beat(h heartbeat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answering {
		_ = s.write(h, nil) // the next event reports the error
	}
}

// write sends a message. The caller holds the mutex.
func (s *sender) write(m message, behind []byte) error {
	frame, err := appendFrame(s.buf[:0], m)
	if err != nil {
		return err
	}
	if len(frame) <= smallFrame {
		s.buf = frame[:0]
	}
	if _, err := s.conn.Write(frame); err != nil || len(behind) == 0 {
		return err
	}
	_, err = s.conn.Write(behind)
	return err
}

// event sends an event, split if it is large.
func (s *sender) event(e engine.Event) error {
	switch e := e.(type) {
	case engine.Start:
		return s.start(e)
	case engine.Preview:
		return s.sendBehind(e.Image.Data, e)
	case engine.Drawn:
		return s.sendBehind(e.Image.Data, e)
	}
	for part := range split(e) {
		if err := s.send(part, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *sender) start(e engine.Start) error {
	if e.Prompt != "" {
		text := e.Prompt[:cutPoint(e.Prompt, maxPrompt)]
		if err := s.send(prompt{size: len(text)}, []byte(text)); err != nil {
			return err
		}
	}
	e.Ignored = e.Ignored[:min(len(e.Ignored), maxListed)]
	e.Unenforced = e.Unenforced[:min(len(e.Unenforced), maxListed)]
	places := make([]engine.Place, 0, len(e.Unenforced))
	for _, p := range e.Unenforced {
		places = append(places, shortPlace(p))
	}
	e.Unenforced = places
	return s.send(e, nil)
}

// last sends the last message of a call: m or the error.
func (s *sender) last(m message, err error) error {
	if err != nil {
		m = errorReply{toWireError(err)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answering = false
	return s.write(m, nil)
}

// lastOf sends a payload and the last message of a call, or the error.
func (s *sender) lastOf(m message, bulk []byte, err error) error {
	if err != nil {
		return s.last(nil, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answering = false
	return s.writeBehind(bulk, m)
}

// sendBehind sends a payload and the message that describes it.
func (s *sender) sendBehind(bulk []byte, m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writeBehind(bulk, m)
}

// writeBehind writes a payload and the message that describes it. The caller holds
// the mutex, so that no heartbeat comes between them.
func (s *sender) writeBehind(bulk []byte, m message) error {
	if len(bulk) > maxPayload {
		return s.write(errorReply{toWireError(fmt.Errorf("a payload of %d bytes", len(bulk)))}, nil)
	}
	if err := s.write(payload{size: len(bulk)}, bulk); err != nil {
		return err
	}
	return s.write(m, nil)
}

// split splits an event that may not fit one frame into equivalent ones.
func split(e engine.Event) iter.Seq[engine.Event] {
	return func(yield func(engine.Event) bool) {
		switch e := e.(type) {
		case engine.TextDelta:
			for part := range splitDelta(e) {
				if !yield(part) {
					return
				}
			}
		case engine.ReasoningDelta:
			for part := range splitText(e.Text) {
				e.Text = part
				if !yield(e) {
					return
				}
			}
		case engine.ToolCallDelta:
			for part := range splitText(e.Arguments) {
				e.Arguments = part
				if !yield(e) {
					return
				}
			}
		default:
			yield(e)
		}
	}
}

// splitText splits a text between characters. An empty text is one part.
func splitText(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := cutPoint(text, maxTextPart)
			if !yield(text[:at]) || at == len(text) {
				return
			}
			text = text[at:]
		}
	}
}

// cutPoint is the last index up to at where text can be cut between characters.
func cutPoint(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for back := at; back > at-utf8.UTFMax; back-- {
		if utf8.RuneStart(text[back]) {
			return back
		}
	}
	return at // not UTF-8
}

// splitDelta splits a delta, between tokens if it has logprobs. Then the text of a
// part is that of its tokens, as far as these add up to the text.
func splitDelta(e engine.TextDelta) iter.Seq[engine.TextDelta] {
	return func(yield func(engine.TextDelta) bool) {
		text, part := e.Text, e
		part.Text, part.Logprobs = "", nil
		spelled, size := 0, 0
		for t := range splitTokens(e.Logprobs) {
			part.Logprobs = append(part.Logprobs, t)
			spelled += len(t.Token)
			size += sizeOf(t)
			if size < maxTextPart || spelled == 0 || spelled >= len(text) || !utf8.RuneStart(text[spelled]) {
				continue
			}
			part.Text = text[:spelled]
			if !yield(part) {
				return
			}
			text, part.Logprobs, spelled, size = text[spelled:], nil, 0, 0
		}
		for piece := range splitText(text) {
			part.Text = piece
			if !yield(part) {
				return
			}
			part.Logprobs = nil
		}
	}
}

// splitTokens splits tokens that may not fit one frame, as an echo may have.
func splitTokens(tokens []engine.TokenLogprob) iter.Seq[engine.TokenLogprob] {
	return func(yield func(engine.TokenLogprob) bool) {
		for _, t := range tokens {
			if len(t.Token) <= maxTextPart {
				if !yield(t) {
					return
				}
				continue
			}
			for piece := range splitText(string(t.Token)) {
				t.Token = []byte(piece)
				if !yield(t) {
					return
				}
			}
		}
	}
}

// sizeOf is the approximate size of a token in a frame.
func sizeOf(t engine.TokenLogprob) int {
	size := len(t.Token) + 16
	for _, alternative := range t.Top {
		size += len(alternative.Token) + 16
	}
	return size
}
