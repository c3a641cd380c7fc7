package format

import (
	"strings"

	"github.com/diglot/diglot/engine"
)

// scanner reads the raw output of a model, in whatever pieces it comes, and
// tells its writer what is text, what is reasoning and what is a tool call.
//
// It is a state machine over a buffer: each step takes what it understands
// from the front of the buffer and reports whether another step may follow at
// once. What a step cannot decide yet stays in the buffer, so no answer
// depends on where the pieces were cut. A tool call leaves the buffer only
// once its name is known to be one of the request's tools: call markup around
// anything else is given out as the text that it is.
type scanner struct {
	format *Format
	tools  Tools
	out    *writer

	buf    []byte
	pos    int // of buf[0] in the whole output
	final  bool
	reason engine.FinishReason // why it is final
	step   func(*scanner) bool

	inText, inReasoning *marks

	kind      kindOfProse
	skipSpace bool          // white space that comes next belongs to the markup before it
	fresh     bool          // no text was shown yet
	syntaxes  []*callSyntax // that the mark in front may begin
	syntax    *callSyntax   // the one that it did
	inSection bool          // between the opening and the end of a section of calls
	body      callBody
	ended     bool // the model spelled out the end of its turn
}

// kindOfProse is what lies between calls.
type kindOfProse int

const (
	proseText kindOfProse = iota
	proseReasoning
)

// write reads the next piece of output.
func (s *scanner) write(piece []byte) {
	s.buf = append(s.buf, piece...)
	s.run()
}

// finish reads what was held back: nothing more comes.
func (s *scanner) finish(reason engine.FinishReason) {
	s.final, s.reason = true, reason
	s.run()
}

func (s *scanner) run() {
	for !s.done() && s.step(s) {
	}
}

// done says that what may still come is no part of the answer.
func (s *scanner) done() bool { return s.ended || s.out.stopped }

// take removes n bytes from the front of the buffer.
func (s *scanner) take(n int) {
	s.pos += n
	s.buf = s.buf[n:]
}

// emit gives out n bytes from the front of the buffer as prose.
func (s *scanner) emit(n int) {
	if n == 0 {
		return
	}
	if s.kind == proseReasoning {
		s.out.reasoningAt(s.buf[:n], s.pos)
	} else {
		s.fresh = false
		s.out.textAt(s.buf[:n], s.pos)
	}
	s.take(n)
}

// prose reads text or reasoning up to the next mark.
func (s *scanner) prose() bool {
	if s.skipSpace {
		s.take(spaces(s.buf))
		if len(s.buf) == 0 {
			return false
		}
		s.skipSpace = false
	}
	if bare := s.bare(); len(bare) > 0 {
		switch at := spaces(s.buf); {
		case at == len(s.buf) && !s.final:
			return false
		case at < len(s.buf) && s.buf[at] == '{':
			s.take(at)
			return s.call(bare, false)
		}
	}
	marks := s.inText
	if s.kind == proseReasoning {
		marks = s.inReasoning
	}
	n, hit := marks.find(s.buf, s.final)
	s.emit(n)
	if hit == nil || s.done() {
		return false
	}
	return s.marked(hit)
}

// bare lists the syntaxes of calls that have no opening mark, where one may
// begin: such a call is all that the answer holds, so it stands at its start.
func (s *scanner) bare() []*callSyntax {
	if !s.fresh || s.kind != proseText || len(s.tools) == 0 {
		return nil
	}
	return s.format.callsWhere(func(c *callSyntax) bool { return c.bare })
}

// marked acts on the mark that the buffer begins with.
func (s *scanner) marked(hit *mark) bool {
	switch hit.means {
	case meansReasoning:
		s.kind, s.skipSpace = proseReasoning, true
	case meansReasoningEnd:
		s.kind, s.skipSpace = proseText, true
	case meansCall:
		if list := s.format.callsWhere(func(c *callSyntax) bool { return c.opener() == hit.text }); len(list) > 0 {
			return s.call(list, false)
		}
		return s.call(s.format.callsWhere(func(c *callSyntax) bool { return c.loose && c.open == hit.text }), true)
	case meansEnd:
		s.ended = true
	case meansNothing:
	}
	s.take(len(hit.text))
	return true
}

// call begins to read a call at the front of the buffer.
func (s *scanner) call(list []*callSyntax, inSection bool) bool {
	s.syntaxes, s.inSection = list, inSection
	s.step = (*scanner).callHead
	return true
}

// callHead reads up to the arguments of a call. Nothing leaves the buffer
// before the whole head is there and names a tool.
func (s *scanner) callHead() bool {
	for _, c := range s.syntaxes {
		lead, v := s.callLead(c)
		var h head
		if v == yes {
			h, v = c.reader.head(s.buf[lead:], s.tools)
		}
		switch {
		case v == perhaps && !s.final:
			return false
		case v == yes:
			s.take(lead + h.size)
			s.syntax, s.inSection, s.body = c, c.section != "", h.body
			s.out.callStart(h.id, h.name)
			s.step = (*scanner).callArguments
			return true
		}
	}
	s.notCall()
	return true
}

// callLead measures the marks in front of a call's head.
func (s *scanner) callLead(c *callSyntax) (int, verdict) {
	n := 0
	if !s.inSection && c.section != "" {
		n = len(c.section) // found by its mark
		n += skim(s.buf[n:], c.between)
	}
	v := begins(s.buf[n:], c.open)
	return min(n+len(c.open), len(s.buf)), v
}

// notCall gives out the beginning of what looked like a call as prose.
func (s *scanner) notCall() {
	n := len(s.syntaxes[0].opener())
	if s.inSection || n == 0 {
		n = 1 // the marks in front were a call's, or there are none
	}
	s.inSection = false
	s.step = (*scanner).prose
	s.emit(min(n, len(s.buf)))
}

// callArguments reads arguments until they are complete.
func (s *scanner) callArguments() bool {
	n, complete := s.body.read(s.buf, s.final, s.out)
	s.take(n)
	if !complete {
		if s.final {
			s.out.callCut(s.reason)
			s.step = (*scanner).prose
		}
		return false
	}
	s.out.callEnd()
	s.step = (*scanner).callTail
	return true
}

// callTail skips the marks behind a call.
func (s *scanner) callTail() bool {
	c := s.syntax
	for _, end := range c.ends {
		at := spaces(s.buf)
		switch v := begins(s.buf[at:], strings.TrimSpace(end)); {
		case v == yes:
			s.take(at + len(strings.TrimSpace(end)))
		case v == perhaps && !s.final:
			return false
		}
	}
	s.kind, s.skipSpace, s.fresh = proseText, true, c.bare
	s.step = (*scanner).prose
	if s.inSection {
		s.step = (*scanner).betweenCalls
	} else if c.bare {
		s.step = (*scanner).betweenBare
	}
	return true
}

// betweenCalls reads what separates the calls of a section, and its end.
func (s *scanner) betweenCalls() bool {
	c := s.syntax
	at := skim(s.buf, c.between)
	end := begins(s.buf[at:], c.sectionEnd)
	if c.sectionEnd == "" {
		end = no
	}
	if at == len(s.buf) {
		if s.final {
			s.take(at)
		}
		return false
	}
	next := begins(s.buf[at:], c.open)
	switch {
	case end == yes:
		s.take(at + len(c.sectionEnd))
		s.inSection = false
		s.step = (*scanner).prose
	case (end == perhaps || next == perhaps) && !s.final:
		return false
	case next == yes:
		s.take(at)
		s.step = (*scanner).callHead
	default:
		s.take(spaces(s.buf))
		s.inSection = false
		s.step = (*scanner).prose
	}
	return true
}

// betweenBare skips what separates bare calls.
func (s *scanner) betweenBare() bool {
	s.take(skim(s.buf, s.syntax.between))
	if len(s.buf) == 0 {
		return false
	}
	s.step = (*scanner).prose
	return true
}

// marksOf are what the scanner looks for in text and in reasoning.
func marksOf(f *Format, calls bool) (inText, inReasoning *marks) {
	var both, text []mark
	if calls {
		for i := range f.Calls {
			both = append(both, mark{f.Calls[i].opener(), meansCall})
			if c := &f.Calls[i]; c.section != "" && c.loose {
				both = append(both, mark{c.open, meansCall})
			}
		}
	}
	for _, end := range f.Ends {
		both = append(both, mark{end, meansEnd})
	}
	for _, s := range f.Silent {
		text = append(text, mark{s, meansNothing})
	}
	text = append(text, mark{f.Open, meansReasoning})
	return newMarks(append(text, both...)), newMarks(append(both, mark{f.Close, meansReasoningEnd}))
}
