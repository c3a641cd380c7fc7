package format

import (
	"strings"

	"github.com/diglot/diglot/engine"
)

// scanner splits the raw output of a model into text, reasoning and tool calls for
// its writer.
//
// It is a state machine over a buffer: each step consumes what it can decide and
// reports whether the next step may run at once. The rest stays in the buffer, so
// the result does not depend on token boundaries. A call is consumed only once
// its name is known to be one of the request's tools; other call markup is text.
type scanner struct {
	format *Format
	tools  Tools
	out    *writer

	buf    []byte
	pos    int // of buf[0] in the whole output
	final  bool
	reason engine.FinishReason // if final
	step   func(*scanner) bool

	inText, inReasoning *delimiters

	kind      kindOfProse
	skipSpace bool          // white space that follows belongs to the markup
	fresh     bool          // no text yet
	syntaxes  []*callSyntax // candidates for the call at the front
	syntax    *callSyntax   // of the current call
	inSection bool          // inside a section of calls
	body      argumentsParser
	ended     bool // a marker ended the turn
}

// kindOfProse is text or reasoning.
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

// finish reads what was held back.
func (s *scanner) finish(reason engine.FinishReason) {
	s.final, s.reason = true, reason
	s.run()
}

func (s *scanner) run() {
	for !s.done() && s.step(s) {
	}
}

func (s *scanner) done() bool { return s.ended || s.out.stopped }

// take consumes n bytes.
func (s *scanner) take(n int) {
	s.pos += n
	s.buf = s.buf[n:]
}

// emit consumes n bytes as text or reasoning.
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

// prose reads text or reasoning up to the next delimiter.
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
	search := s.inText
	if s.kind == proseReasoning {
		search = s.inReasoning
	}
	n, hit := search.find(s.buf, s.final)
	s.emit(n)
	if hit == nil || s.done() {
		return false
	}
	return s.marked(hit)
}

// bare returns the syntaxes without delimiters if such a call may begin here: only
// at the start of the text.
func (s *scanner) bare() []*callSyntax {
	if !s.fresh || s.kind != proseText || len(s.tools) == 0 {
		return nil
	}
	return s.format.callsWhere(func(c *callSyntax) bool { return c.bare })
}

// marked handles the delimiter at the front of the buffer.
func (s *scanner) marked(hit *delimiter) bool {
	switch hit.means {
	case meansReasoning:
		s.kind, s.skipSpace = proseReasoning, true
	case meansReasoningEnd:
		s.kind, s.skipSpace = proseText, true
	case meansCall:
		if list := s.format.callsWhere(func(c *callSyntax) bool { return c.opener() == hit.text }); len(list) > 0 {
			return s.call(list, false)
		}
		return s.call(s.format.callsWhere(func(c *callSyntax) bool { return c.optionalSection && c.open == hit.text }), true)
	case meansEnd:
		s.ended = true
	case meansNothing:
	}
	s.take(len(hit.text))
	return true
}

// call starts to parse a call at the front of the buffer.
func (s *scanner) call(list []*callSyntax, inSection bool) bool {
	s.syntaxes, s.inSection = list, inSection
	s.step = (*scanner).callHead
	return true
}

// callHead parses up to the arguments of a call. It consumes nothing until the
// whole head is there and names a tool. What a limit of tokens leaves of a head
// behind its delimiter is dropped: it is markup, not text.
func (s *scanner) callHead() bool {
	cut := false
	for _, c := range s.syntaxes {
		lead, v := s.callLead(c)
		var h head
		if v == yes {
			h, v = c.parser.head(s.buf[lead:], s.tools)
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
		case v == perhaps && !c.bare && s.reason == engine.FinishMaxTokens:
			cut = true
		}
	}
	if cut {
		s.take(len(s.buf))
		s.out.endProse(true)
		return false
	}
	s.notCall()
	return true
}

// callLead is the length of the delimiters before a call's head.
func (s *scanner) callLead(c *callSyntax) (int, verdict) {
	n := 0
	if !s.inSection && c.section != "" {
		n = len(c.section) // already matched
		n += skim(s.buf[n:], c.between)
	}
	v := begins(s.buf[n:], c.open)
	return min(n+len(c.open), len(s.buf)), v
}

// notCall emits as text what looked like the start of a call.
func (s *scanner) notCall() {
	n := len(s.syntaxes[0].opener())
	if s.inSection || n == 0 {
		n = 1 // there is no opening delimiter to emit
	}
	s.inSection = false
	s.step = (*scanner).prose
	s.emit(min(n, len(s.buf)))
}

// callArguments parses arguments until they are complete.
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

// callTail skips the delimiters after a call.
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

// delimitersOf returns what the scanner searches for in text and in reasoning.
func delimitersOf(f *Format, calls bool) (inText, inReasoning *delimiters) {
	var both, text []delimiter
	if calls {
		for i := range f.Calls {
			both = append(both, delimiter{f.Calls[i].opener(), meansCall})
			if c := &f.Calls[i]; c.section != "" && c.optionalSection {
				both = append(both, delimiter{c.open, meansCall})
			}
		}
	}
	for _, end := range f.Ends {
		both = append(both, delimiter{end, meansEnd})
	}
	for _, s := range f.Silent {
		text = append(text, delimiter{s, meansNothing})
	}
	text = append(text, delimiter{f.Open, meansReasoning})
	return newDelimiters(append(text, both...)), newDelimiters(append(both, delimiter{f.Close, meansReasoningEnd}))
}
