package template

import (
	"strings"

	"github.com/diglot/diglot/engine/chat/format"
)

// readable reports whether calls can be parsed by the markup alone.
func readable(s *format.Syntax) bool {
	start := strings.TrimSpace(s.SectionStart + s.CallStart)
	switch s.Kind {
	case format.SyntaxJSON:
		return start != ""
	case format.SyntaxNamed:
		return !s.Odd && marker.MatchString(start) && s.NameEnd != ""
	case format.SyntaxTagged:
		return !s.Odd && marker.MatchString(start) && strings.TrimSpace(s.ArgumentStart) != "" &&
			strings.TrimSpace(s.KeyEnd) != "" && strings.TrimSpace(s.ArgumentEnd) != ""
	}
	return false
}

// isHermes reports whether calls are JSON objects between <tool_call> tags.
func isHermes(s *format.Syntax) bool {
	start := strings.TrimSpace(s.SectionStart + s.CallStart)
	return s.Kind == format.SyntaxJSON && start == "<tool_call>" && !s.Array && s.NameField == "name" && s.ArgumentsField == "arguments"
}

// isBareJSON reports whether a call is a JSON object without delimiters.
func isBareJSON(s *format.Syntax) bool {
	return s.Kind == format.SyntaxJSON && strings.TrimSpace(s.SectionStart+s.CallStart) == ""
}

// example is a sample call, in the template's syntax if it can be derived.
func (c *Capabilities) example() string {
	s := &c.Syntax
	if c.ToolCalls && s.Kind == format.SyntaxNamed {
		call := "function_name" + s.NameEnd + `{"argument_name": "value"}`
		return strings.TrimSpace(s.SectionStart + s.CallStart + call + s.CallEnd + s.SectionEnd)
	}
	return fallbackExample
}

// markup derives a syntax from renderings.
type markup struct{ format.Syntax }

// syntax derives the markup from pairs of conversations that differ in one thing:
// with and without reasoning, text and a call, one call and two, one argument and
// two. What differs, apart from the probe words, is the markup.
func (p *prober) syntax() format.Syntax {
	var s markup
	plain, ok := p.render(p.thoughtful(finished(user(probeUser), assistant(probeAnswer))))
	if ok {
		_, s.TurnEnd, _ = cutLast(plain, probeAnswer)
	}
	p.reasoning(&s, plain)
	if p.t.caps.ToolCalls {
		p.callSyntax(&s)
	}
	return s.Syntax
}

func (p *prober) thoughtful(c conversation) conversation {
	c.reasoning.Mode = "on"
	return c
}

// reasoning finds the reasoning delimiters. Some templates show reasoning only in
// turns with calls; some never do, but their source has </think>.
func (p *prober) reasoning(s *markup, plain string) {
	thought := assistant(probeAnswer)
	thought.reasoning = probeReasoning
	if text, ok := p.render(p.thoughtful(finished(user(probeUser), thought))); ok {
		before, _, _ := cutLast(plain, probeAnswer)
		s.readReasoning(text, probeAnswer, before)
	}
	if s.ReasoningEnd == "" && p.t.caps.ToolCalls {
		thought = calling("", probeCall(probeID))
		thought.reasoning = probeReasoning
		if text, ok := p.render(p.thoughtful(finished(user(probeUser), thought).withTools())); ok {
			s.readReasoning(text, probeTool, "")
		}
	}
	if s.ReasoningEnd == "" && strings.Contains(p.source, "</think>") {
		s.ReasoningStart, s.ReasoningEnd = "<think>", "</think>"
	}
}

// readReasoning finds the delimiters around the reasoning in text. anchor is the
// word after it; before is the rendering up to the same turn without reasoning.
func (s *markup) readReasoning(text, anchor, before string) {
	head, tail, ok := cutLast(text, probeReasoning)
	if !ok || !strings.Contains(tail, anchor) {
		return
	}
	start := head[wholeMarkers(head, commonPrefix(head, before)):]
	if before == "" || len(start) > maxMarker || !marker.MatchString(start) {
		start = lastMarker(head)
	}
	end := firstMarker(tail)
	if strings.TrimSpace(start) == "" || end == "" {
		return
	}
	s.ReasoningStart, s.ReasoningEnd = strings.TrimSpace(start), strings.TrimSpace(end)
}

// shownCall is what surrounds the tool's name in a rendered call.
type shownCall struct {
	before string // from the start of the assistant turn
	after  string // to the end of the prompt
}

// callSyntax derives the markup of calls.
func (p *prober) callSyntax(s *markup) {
	base, ok := p.render(finished(user(probeUser), assistant("")).withTools())
	if !ok {
		base, _ = p.render(finished(user(probeUser), assistant(probeAnswer)).withTools())
	}
	text, _ := p.render(finished(user(probeUser), calling("", probeCall(probeID))).withTools())
	at := strings.LastIndex(text, probeTool)
	start := min(at, wholeMarkers(text, commonPrefix(base, text)))
	one := shownCall{before: text[start:at], after: text[at+len(probeTool):]}
	if !wordsInOrder(one.after, probeKey, probeValue) {
		return
	}
	two, _ := p.render(finished(user(probeUser), calling("", probeCall(probeID), probeCall2(probeID))).withTools())
	between := ""
	if i := strings.LastIndex(two, probeTool); i >= 0 {
		between, _, _ = strings.Cut(two[i+len(probeTool):], probeTool2)
	}
	toKey, _, _ := strings.Cut(one.after, probeKey)
	switch quote := strings.HasSuffix(strings.TrimRight(one.before, " "), `"`); {
	case quote && strings.Contains(one.before, "{"):
		s.readJSON(one, between)
	case strings.Contains(toKey, "{") && strings.HasSuffix(strings.TrimRight(toKey, " "), `"`):
		s.readNamed(one, between)
	default:
		more := probeCall(probeID)
		more.Arguments = strings.TrimSuffix(more.Arguments, "}") + `, "` + probeKey2 + `": "` + probeValue2 + `"}`
		pairs, _ := p.render(finished(user(probeUser), calling("", more)).withTools())
		s.readTagged(one, between, pairs)
	}
	_, second, _ := strings.Cut(two, between+probeTool2)
	markup := s.SectionStart + s.CallStart + s.NameEnd + s.ArgumentStart + s.ArgumentEnd
	s.Odd = between == "" || !strings.HasPrefix(second, s.NameEnd) ||
		strings.Contains(markup, probeTool) || strings.Contains(markup, probeKey)
	if end := firstMarker(s.SectionEnd); s.SectionStart != "" && end != "" {
		s.SectionEnd = end // what follows ends the turn
	}
	s.nameIDs()
}

// readJSON reads calls that are JSON objects.
func (s *markup) readJSON(one shownCall, between string) {
	open := jsonStart(one.before)
	if open < 0 {
		return
	}
	value, after, ok := decodePrefix(one.before[open:] + probeTool + one.after)
	if !ok {
		return
	}
	s.Kind = format.SyntaxJSON
	if list, ok := value.([]any); ok && len(list) > 0 {
		s.Array, value = true, list[0]
	}
	s.readFields("", value)
	start, end := one.before[:open], s.withoutTurnEnd(after)
	if s.Array || between == "" {
		s.SectionStart, s.SectionEnd = start, end
		return
	}
	// between runs from one name to the next: cut off the rest of one object and
	// the start of the other.
	_, rest, ok := decodePrefix(one.before[open:] + probeTool + between)
	if i := jsonStart(rest); ok && i >= 0 {
		s.section(start, rest[:i], end)
		return
	}
	s.SectionStart, s.SectionEnd = start, end
}

// readFields finds the fields of the name, the arguments and the id.
func (s *markup) readFields(path string, value any) {
	object, _ := value.(map[string]any)
	for key, member := range object {
		switch m := member.(type) {
		case string:
			if m == probeTool {
				s.NameField = path + key
			}
			if strings.Contains(m, probeID) {
				s.IDField = path + key
			}
		case map[string]any:
			if _, ok := m[probeKey]; ok {
				s.ArgumentsField = path + key
			} else {
				s.readFields(path+key+".", m)
			}
		}
	}
}

// readNamed reads calls that are a name and a JSON object.
func (s *markup) readNamed(one shownCall, between string) {
	toKey, _, _ := strings.Cut(one.after, probeKey)
	open := strings.LastIndexByte(toKey, '{')
	_, after, ok := decodePrefix(one.after[open:])
	if !ok {
		return
	}
	s.Kind, s.NameEnd = format.SyntaxNamed, toKey[:open]
	rest := ""
	if len(between) > open {
		_, rest, _ = decodePrefix(between[open:])
	}
	s.section(one.before, rest, s.withoutTurnEnd(after))
}

// readTagged reads calls with arguments in tags. pairs is a call with two
// arguments: the end tag of one and the start tag of the other are between them.
func (s *markup) readTagged(one shownCall, between, pairs string) {
	toKey, rest, _ := strings.Cut(one.after, probeKey)
	s.Kind, s.NameEnd = format.SyntaxTagged, toKey
	var after string
	s.KeyEnd, after, _ = strings.Cut(rest, probeValue)
	_, pairs, _ = cutLast(pairs, probeValue)
	if turn, _, ok := strings.Cut(pairs, probeKey2); ok {
		n := wholeSuffix(turn, commonSuffix(turn, toKey))
		s.ArgumentStart, s.NameEnd = toKey[len(toKey)-n:], toKey[:len(toKey)-n]
		s.ArgumentEnd = turn[:len(turn)-n]
		after = strings.TrimPrefix(after, s.ArgumentEnd)
	}
	_, between, _ = cutLast(between, probeValue)
	s.section(one.before, strings.TrimPrefix(between, s.ArgumentEnd), s.withoutTurnEnd(after))
}

// section splits what is before, between and after calls: between is the end of a
// call, the separator, and the start of the next.
func (s *markup) section(start, between, end string) {
	if between == "" {
		s.SectionStart, s.SectionEnd = start, end
		return
	}
	n := wholeMarkers(end, commonPrefix(between, end))
	s.CallEnd, s.SectionEnd = end[:n], end[n:]
	between = between[n:]
	n = wholeSuffix(between, wholeSuffix(start, commonSuffix(between, start)))
	s.SectionStart, s.CallStart = start[:len(start)-n], start[len(start)-n:]
	s.Separator = between[:len(between)-n]
}

func (s *markup) withoutTurnEnd(text string) string {
	return text[:len(text)-wholeSuffix(text, commonSuffix(text, s.TurnEnd))]
}

// nameIDs replaces the probe's id by {id}.
func (s *markup) nameIDs() {
	for _, f := range []*string{&s.SectionStart, &s.SectionEnd, &s.CallStart, &s.CallEnd, &s.Separator, &s.NameEnd} {
		*f = strings.ReplaceAll(*f, probeID, "{id}")
	}
}
