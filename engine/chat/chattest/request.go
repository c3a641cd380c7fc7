package chattest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/plainjson"
)

// Hostile returns text that tries to become special tokens: whole ones, parts,
// overlapping and nested ones, and words. It is not empty.
func Hostile(r *rand.Rand, control []string) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		s := control[r.IntN(len(control))]
		switch r.IntN(7) {
		case 0:
			b.WriteString("word ")
		case 1:
			b.WriteString(s[:r.IntN(len(s)+1)])
		case 2:
			b.WriteString(s[r.IntN(len(s)+1):])
		case 3:
			b.WriteString([]string{"\U00100001", "\U00100000", "\U0010fffd", "<", "<|", "[", "|>", "\\u003c", "&lt;"}[r.IntN(9)])
		case 4: // for templates that cut something out
			n := r.IntN(len(s))
			b.WriteString(s[:n] + []string{"/think", " ", "\n", "##", "</think>"}[r.IntN(5)] + s[n:])
		case 5: // nested
			n := r.IntN(len(s))
			b.WriteString(s[:n] + control[r.IntN(len(control))] + s[n:])
		default:
			b.WriteString(s)
		}
	}
	if text := strings.TrimSpace(strings.ToValidUTF8(b.String(), "")); text != "" {
		return text
	}
	return "word" // templates treat an empty string as absent
}

// Request has a text in every field that a client can fill with one.
func Request(text func() string) *engine.Request {
	quoted := func() string {
		b, _ := plainjson.Marshal(text()) // a string always encodes
		return string(b)
	}
	keys := 0
	key := func() string { // unique
		keys++
		word := text() + strconv.Itoa(keys)
		if keys%2 == 0 {
			word = strconv.Itoa(keys) + text()
		}
		b, _ := plainjson.Marshal(word)
		return string(b)
	}
	say := func(role engine.Role, texts ...string) engine.Message {
		m := engine.Message{Role: role}
		for _, t := range texts {
			m.Parts = append(m.Parts, engine.Text{Text: t})
		}
		return m
	}
	call := engine.ToolCall{ID: "c" + text(), Name: "n" + text(),
		Arguments: fmt.Sprintf(`{%s: %s, "list": [%s, {%s: %s}]}`, key(), quoted(), quoted(), key(), quoted())}
	named := say(engine.RoleUser, text(), text())
	named.Name = text()
	return &engine.Request{
		Messages: []engine.Message{
			say(engine.RoleSystem, text()),
			named,
			{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: text()}, call}},
			{Role: engine.RoleTool, Parts: []engine.Part{
				engine.ToolResult{CallID: call.ID, Name: call.Name, Parts: []engine.Part{engine.Text{Text: text()}, engine.Text{Text: text()}}},
			}},
			{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: text()}, engine.Text{Text: text()}}},
			say(engine.RoleDeveloper, text()),
			say(engine.RoleUser, text()),
		},
		Tools: []engine.Tool{{
			Name:        call.Name,
			Description: text(),
			Parameters: fmt.Appendf(nil, `{"type": "object", "title": %s, "properties": {%s: {"type": "string", "description": %s, "enum": [%s]},`+
				`"nested": {"type": "object", "properties": {%s: {"const": %s}}, "required": [%s]}}, "required": [%s]}`,
				quoted(), key(), quoted(), quoted(), key(), quoted(), quoted(), quoted()),
		}},
		Stop: []string{text()},
	}
}
