package format

import (
	"bytes"
	"strings"
)

// harmonyMarks end the content of a message. The last two begin the next message
// when the model omits the end.
var harmonyMarks = newDelimiters([]delimiter{
	{harmonyEnd, meansNothing}, {harmonyCall, meansEnd}, {harmonyReturn, meansEnd},
	{harmonyStart, meansMessage}, {harmonyChannel, meansMessage},
})

// openChannel starts where the prompt ends: in a header, or in the content of a
// message.
func (s *scanner) openChannel(opening string) {
	s.step = (*scanner).channelHeader
	if i := strings.LastIndex(opening, harmonyStart); i >= 0 {
		opening = opening[i:]
	} else if !strings.Contains(opening, harmonyChannel) {
		return
	}
	header, content, open := strings.Cut(opening, harmonyMessage)
	if open {
		h := readHarmonyHeader([]byte(header))
		s.startChannel(h)
		opening = content
	} else {
		opening = strings.TrimPrefix(opening, harmonyStart+"assistant")
	}
	s.buf, s.pos = []byte(opening), -len(opening)
}

// channelHeader reads up to the content of a message. Output without a header is
// text.
func (s *scanner) channelHeader() bool {
	at := spaces(s.buf)
	rest := s.buf[at:]
	if len(rest) == 0 && !s.final {
		return false
	}
	header := false
	for _, begin := range []string{"<|", "to=", "assistant"} {
		v := begins(rest, begin)
		if v == perhaps && !s.final {
			return false
		}
		header = header || v == yes
	}
	if !header {
		s.startChannel(harmonyHeader{})
		return true
	}
	size := bytes.Index(s.buf, []byte(harmonyMessage))
	switch {
	case size < 0 && len(s.buf) < maxHead && !s.final:
		return false
	case size < 0:
		s.startChannel(harmonyHeader{})
		s.emit(min(at+1, len(s.buf))) // it only looked like a header
		return len(s.buf) > 0
	}
	h := readHarmonyHeader(s.buf[:size])
	s.startChannel(h)
	if h.recipient != "" && s.body == nil {
		s.emit(size + len(harmonyMessage)) // a call of an unknown tool is text
		return true
	}
	s.take(size + len(harmonyMessage))
	return true
}

// startChannel begins the content of a message.
func (s *scanner) startChannel(h harmonyHeader) {
	s.out.endProse(true)
	s.kind, s.body, s.step = proseText, nil, (*scanner).channelProse
	if name := strings.TrimPrefix(h.recipient, harmonyFunctions); h.recipient != "" && s.tools.knows(name) == yes {
		s.body, s.step = &jsonBody{}, (*scanner).channelCall
		s.out.callStart("", name)
		return
	}
	if h.channel == "analysis" && h.recipient == "" {
		s.kind = proseReasoning
	}
}

// channelProse reads the content of a message that is not a call.
func (s *scanner) channelProse() bool {
	n, hit := harmonyMarks.find(s.buf, s.final)
	s.emit(n)
	if hit == nil || s.done() {
		return false
	}
	s.ended = hit.means == meansEnd
	if hit.means != meansMessage {
		s.take(len(hit.text))
	}
	s.step = (*scanner).channelHeader
	return true
}

// channelCall reads the arguments of a call.
func (s *scanner) channelCall() bool {
	n, complete := s.body.read(s.buf, s.final, s.out)
	s.take(n)
	switch {
	case complete:
		s.out.callEnd()
	case s.final:
		s.out.callCut(s.reason)
	default:
		return false
	}
	s.kind, s.skipSpace, s.step = proseText, false, (*scanner).channelAfterCall
	return true
}

// channelAfterCall skips white space after a call.
func (s *scanner) channelAfterCall() bool {
	s.take(spaces(s.buf))
	if len(s.buf) == 0 {
		return false
	}
	s.step = (*scanner).channelProse
	return true
}
