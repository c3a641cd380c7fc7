package runner

import (
	"io"
	"iter"
	"sync"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// maxListed is how many members a list of a Start has.
const maxListed = 1000

// sender sends messages from more than one goroutine.
type sender struct {
	mu   sync.Mutex
	conn io.Writer
	buf  []byte
}

// send sends a message, and the bytes behind it that it announces.
func (s *sender) send(m message, behind []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
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

// event sends an event in as many messages as it needs.
func (s *sender) event(e engine.Event) error {
	if start, is := e.(engine.Start); is {
		return s.start(start)
	}
	for part := range parts(e) {
		if err := s.send(part, nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *sender) start(e engine.Start) error {
	if e.Prompt != "" {
		text := e.Prompt[:border(e.Prompt, maxPrompt)]
		if err := s.send(prompt{size: len(text)}, []byte(text)); err != nil {
			return err
		}
	}
	e.Ignored = e.Ignored[:min(len(e.Ignored), maxListed)]
	e.Unenforced = e.Unenforced[:min(len(e.Unenforced), maxListed)]
	places := make([]engine.Place, 0, len(e.Unenforced))
	for _, p := range e.Unenforced {
		places = append(places, shortened(p))
	}
	e.Unenforced = places
	return s.send(e, nil)
}

// last sends what ends a call: m, or the error.
func (s *sender) last(m message, err error) error {
	if err != nil {
		m = refused{toWireError(err)}
	}
	return s.send(m, nil)
}

// lastOf sends what ends a call, which is about the bytes before it; or the
// error.
func (s *sender) lastOf(m message, behind []byte, err error) error {
	if err == nil {
		err = s.send(bulk{size: len(behind)}, behind)
		if err != nil {
			return err
		}
	}
	return s.last(m, err)
}

// parts cuts an event that a frame may be too small for. Together the parts say
// what it says.
func parts(e engine.Event) iter.Seq[engine.Event] {
	return func(yield func(engine.Event) bool) {
		switch e := e.(type) {
		case engine.TextDelta:
			for part := range textParts(e) {
				if !yield(part) {
					return
				}
			}
		case engine.ReasoningDelta:
			for part := range pieces(e.Text) {
				e.Text = part
				if !yield(e) {
					return
				}
			}
		case engine.ToolCallDelta:
			for part := range pieces(e.Arguments) {
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

// pieces cuts a text between characters. An empty one is one piece.
func pieces(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := border(text, wholePart)
			if !yield(text[:at]) || at == len(text) {
				return
			}
			text = text[at:]
		}
	}
}

// border is the last place at which text may be cut that is no further than at.
func border(text string, at int) int {
	if at >= len(text) {
		return len(text)
	}
	for back := at; back > at-utf8.UTFMax; back-- {
		if utf8.RuneStart(text[back]) {
			return back
		}
	}
	return at // it is no UTF-8
}

// textParts cuts a delta between tokens, where it has some. The text of a part
// is that of its tokens as long as they make the text.
func textParts(e engine.TextDelta) iter.Seq[engine.TextDelta] {
	return func(yield func(engine.TextDelta) bool) {
		text, part := e.Text, e
		part.Text, part.Logprobs = "", nil
		spelled, size := 0, 0
		for t := range shortTokens(e.Logprobs) {
			part.Logprobs = append(part.Logprobs, t)
			spelled += len(t.Token)
			size += sizeOf(t)
			if size < wholePart || spelled == 0 || spelled >= len(text) || !utf8.RuneStart(text[spelled]) {
				continue
			}
			part.Text = text[:spelled]
			if !yield(part) {
				return
			}
			text, part.Logprobs, spelled, size = text[spelled:], nil, 0, 0
		}
		for piece := range pieces(text) {
			part.Text = piece
			if !yield(part) {
				return
			}
			part.Logprobs = nil
		}
	}
}

// shortTokens cuts tokens that a frame may be too small for: what of an echo is
// no known token.
func shortTokens(tokens []engine.TokenLogprob) iter.Seq[engine.TokenLogprob] {
	return func(yield func(engine.TokenLogprob) bool) {
		for _, t := range tokens {
			if len(t.Token) <= wholePart {
				if !yield(t) {
					return
				}
				continue
			}
			for piece := range pieces(string(t.Token)) {
				t.Token = []byte(piece)
				if !yield(t) {
					return
				}
			}
		}
	}
}

// sizeOf is about how large a token is in a frame.
func sizeOf(t engine.TokenLogprob) int {
	size := len(t.Token) + 16
	for _, alternative := range t.Top {
		size += len(alternative.Token) + 16
	}
	return size
}
