package chat

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// harmony is what gpt-oss writes. Each part of an answer is a message with a
// header that names its channel, and for a call, whom it is for:
//
//	<|channel|>analysis<|message|>…<|end|>
//	<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{…}<|call|>
//	<|start|>assistant<|channel|>final<|message|>…<|return|>
var harmony = &Format{
	Name: "harmony",
	Markers: []string{harmonyStart, harmonyChannel, harmonyMessage, harmonyConstrain, harmonyEnd, harmonyCall,
		harmonyReturn},
	channels: true,
}

const (
	harmonyStart     = "<|start|>"
	harmonyChannel   = "<|channel|>"
	harmonyMessage   = "<|message|>"
	harmonyConstrain = "<|constrain|>"
	harmonyEnd       = "<|end|>"
	harmonyCall      = "<|call|>"
	harmonyReturn    = "<|return|>"

	harmonyFunctions = "functions." // before the names of the request's tools
)

// harmonyMarks end the content of a message. The last two begin the next one
// where its end was forgotten.
var harmonyMarks = newMarks([]mark{
	{harmonyEnd, meansNothing}, {harmonyCall, meansEnd}, {harmonyReturn, meansEnd},
	{harmonyStart, meansMessage}, {harmonyChannel, meansMessage},
})

// harmonyContent is the content of a message that is no call: it may hold
// none of the marks with which another message could begin.
var harmonyContent = grammar.Until(harmonyEnd, harmonyCall, harmonyReturn, harmonyStart, harmonyChannel)

// openChannel starts where the prompt ends: within a header, or within the
// content of a message.
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
	// What the prompt holds comes before the output.
	s.buf, s.pos = []byte(opening), -len(opening)
}

// channelHeader reads up to the content of a message. Output that begins with
// no header at all is text.
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
		s.emit(min(at+1, len(s.buf))) // what looked like a header is text
		return len(s.buf) > 0
	}
	h := readHarmonyHeader(s.buf[:size])
	s.startChannel(h)
	if h.recipient != "" && s.body == nil {
		s.emit(size + len(harmonyMessage)) // a call of something that is no tool is text
		return true
	}
	s.take(size + len(harmonyMessage))
	return true
}

// harmonyHeader says what the content of a message is.
type harmonyHeader struct{ channel, recipient string }

// readHarmonyHeader reads a header without the mark at its end. The recipient
// may stand with the role or with the channel.
func readHarmonyHeader(b []byte) harmonyHeader {
	var h harmonyHeader
	role, channel, _ := strings.Cut(string(b), harmonyChannel)
	channel, _, _ = strings.Cut(channel, harmonyConstrain)
	if words := strings.Fields(channel); len(words) > 0 {
		h.channel = words[0]
	}
	for _, word := range strings.Fields(role + " " + channel) {
		if name, ok := strings.CutPrefix(word, "to="); ok {
			h.recipient = name
		}
	}
	return h
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

// channelProse reads the content of a message that is no call.
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

// channelAfterCall skips white space and the mark behind a call.
func (s *scanner) channelAfterCall() bool {
	s.take(spaces(s.buf))
	if len(s.buf) == 0 {
		return false
	}
	s.step = (*scanner).channelProse
	return true
}

// channels is the grammar of a whole answer: thinking and announcements, then
// the answer or a call.
func (c *constraint) channels() grammar.Node {
	var ends []grammar.Node
	if len(c.tools) > 0 {
		ends = append(ends, c.channelCalls())
	}
	if !c.required {
		ends = append(ends, c.channelFinal())
	}
	next := grammar.Literal(harmonyEnd + harmonyStart + "assistant")
	aside := func(channel string) grammar.Node {
		return grammar.Seq(grammar.Literal(harmonyChannel+channel+harmonyMessage), harmonyContent, next)
	}
	asides := grammar.Repeat(grammar.Choice(aside("analysis"), aside("commentary")), 0, -1)
	answer := grammar.Seq(asides, grammar.Choice(ends...))
	header, content, open := strings.Cut(c.opening[max(0, strings.LastIndex(c.opening, harmonyStart)):], harmonyMessage)
	if !open || strings.Contains(content, harmonyEnd) {
		return answer
	}
	if readHarmonyHeader([]byte(header)).channel != "final" {
		return grammar.Seq(harmonyContent, next, answer)
	}
	if c.reply != nil {
		return c.reply
	}
	return grammar.Seq(harmonyContent, optional(grammar.Literal(harmonyReturn)))
}

// channelFinal is the answer.
func (c *constraint) channelFinal() grammar.Node {
	start, end := harmonyChannel+"final", optional(grammar.Literal(harmonyReturn))
	if c.reply != nil {
		return grammar.Seq(grammar.Literal(start),
			optional(grammar.Literal(" "+harmonyConstrain+"json")),
			grammar.Literal(harmonyMessage), c.reply, end)
	}
	return grammar.Seq(grammar.Literal(start+harmonyMessage), harmonyContent, end)
}

// channelCalls is a call: the format has one in a turn.
func (c *constraint) channelCalls() grammar.Node {
	var each []grammar.Node
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		to := " to=" + harmonyFunctions + name
		each = append(each, grammar.Seq(
			grammar.Choice(
				grammar.Literal(to+harmonyChannel+"commentary"),
				grammar.Literal(harmonyChannel+"commentary"+to)),
			optional(grammar.Choice(grammar.Literal(" "+harmonyConstrain+"json"), grammar.Literal(" json"))),
			grammar.Literal(harmonyMessage), c.tools[name].grammar))
	}
	return grammar.Seq(grammar.Choice(each...), optional(grammar.Literal(harmonyCall)))
}
