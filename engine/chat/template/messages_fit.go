package template

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
)

// fit adapts a conversation so that the template shows all of it: what it would
// silently omit is moved. What it rejects with an error is left to repairs.
func (t *Template) fit(c conversation) conversation {
	c.turns = slices.Clone(c.turns)
	for i := range c.turns {
		turn := &c.turns[i]
		if turn.role == engine.RoleDeveloper && !t.caps.Developer {
			turn.role = engine.RoleSystem
		}
		if turn.role == engine.RoleAssistant {
			splitReasoning(&t.caps.Syntax, turn)
		}
		if t.caps.ShortIDs {
			shortenIDs(turn)
		}
	}
	if t.format == format.Kimi {
		numberIDs(c.turns)
	}
	if !t.caps.ToolCalls {
		for i := range c.turns {
			c.turns[i] = callsAsText(c.turns[i])
		}
	} else if !t.caps.ParallelCalls {
		c.turns = splitParallelCalls(c.turns)
	}
	if !t.caps.Tools && len(c.tools) > 0 {
		c.turns = addSystem(c.turns, describeTools(c.tools, t.example))
		c.tools = nil
	} else if t.caps.ToolsLast && len(c.tools) > 0 && len(c.turns) > 0 && c.turns[len(c.turns)-1].role != engine.RoleUser {
		// The conversation already shows how calls are written.
		c.turns = addSystem(c.turns, strings.TrimSpace(listTools(c.tools)))
	}
	c.turns = t.fitSystem(c.turns)
	return c
}

// addSystem inserts a system turn, after the client's own if there is one.
func addSystem(turns []turn, text string) []turn {
	turns = append([]turn{{role: engine.RoleSystem, text: text}}, turns...)
	if len(turns) > 1 && turns[1].role == engine.RoleSystem {
		turns[0], turns[1] = turns[1], turns[0]
	}
	return turns
}

// fitSystem moves system turns to where the template shows them. A later one
// becomes a user turn in the same place: its position matters, and the prompt
// before it stays a cached prefix.
func (t *Template) fitSystem(turns []turn) []turn {
	lead := 0
	for lead < len(turns) && turns[lead].role.Instructs() {
		lead++
	}
	if lead > 1 && !t.caps.SystemAnywhere {
		joined := turns[0]
		joined.text = joinTurns(turns[:lead])
		turns = append([]turn{joined}, turns[lead:]...)
		lead = 1
	}
	if !t.caps.SystemAnywhere {
		for i := lead; i < len(turns); i++ {
			if turns[i].role.Instructs() {
				turns[i].role = engine.RoleUser
			}
		}
	}
	if t.caps.System || lead == 0 {
		return turns
	}
	text := joinTurns(turns[:lead])
	rest := turns[lead:]
	if len(rest) == 0 || rest[0].role != engine.RoleUser {
		return append([]turn{{role: engine.RoleUser, text: text}}, rest...)
	}
	rest[0] = mergeTurns(turn{role: engine.RoleUser, text: text}, rest[0])
	return rest
}

func joinTurns(turns []turn) string {
	var texts []string
	for _, t := range turns {
		if t.text != "" {
			texts = append(texts, t.text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// mergeTurns merges two turns of the same role.
func mergeTurns(a, b turn) turn {
	if a.parts != nil || b.parts != nil {
		a.parts = slices.Concat(partsOf(a), []engine.Part{engine.Text{Text: "\n\n"}}, partsOf(b))
	}
	a.text = joinTurns([]turn{a, b})
	a.reasoning = joinTurns([]turn{{text: a.reasoning}, {text: b.reasoning}})
	a.calls = slices.Concat(a.calls, b.calls)
	return a
}

func partsOf(t turn) []engine.Part {
	if t.parts != nil {
		return t.parts
	}
	return []engine.Part{engine.Text{Text: t.text}}
}

// whiteSpace is what Jinja trims.
const whiteSpace = " \t\n\r\f\v"

// splitReasoning moves reasoning out of the text of an earlier answer: clients
// without reasoning support send it back inline.
func splitReasoning(s *format.Syntax, t *turn) {
	start, end := strings.TrimSpace(s.ReasoningStart), strings.TrimSpace(s.ReasoningEnd)
	if start == "" || end == "" || t.reasoning != "" || t.parts != nil {
		return
	}
	inside, ok := strings.CutPrefix(strings.TrimLeft(t.text, whiteSpace), start)
	if !ok {
		return
	}
	reasoning, text, ok := strings.Cut(inside, end)
	if !ok {
		return
	}
	t.reasoning, t.text = strings.TrimSpace(reasoning), strings.TrimLeft(text, whiteSpace)
}

// splitParallelCalls splits parallel calls into turns of one call, each followed by its
// result.
func splitParallelCalls(turns []turn) []turn {
	var out []turn
	for i := 0; i < len(turns); i++ {
		calling := turns[i]
		if len(calling.calls) < 2 {
			out = append(out, calling)
			continue
		}
		end := i + 1
		for end < len(turns) && turns[end].role == engine.RoleTool {
			end++
		}
		results := slices.Clone(turns[i+1 : end])
		for _, call := range calling.calls {
			one := calling
			one.calls = []engine.ToolCall{call}
			out = append(out, one)
			calling.text, calling.reasoning, calling.parts = "", "", nil
			if k := slices.IndexFunc(results, func(r turn) bool { return r.callID == call.ID }); k >= 0 {
				out = append(out, results[k])
				results = slices.Delete(results, k, k+1)
			}
		}
		out = append(out, results...)
		i = end - 1
	}
	return out
}

// shortIDLength is the length of call ids that Mistral's templates demand.
const shortIDLength = 9

// shortenIDs replaces call ids by hashes that Mistral's templates accept, the same
// in every request so that prompts stay cached.
func shortenIDs(t *turn) {
	t.calls = slices.Clone(t.calls)
	for i := range t.calls {
		t.calls[i].ID = shortID(t.calls[i].ID)
	}
	if t.role == engine.RoleTool {
		t.callID = shortID(t.callID)
	}
}

func shortID(id string) string {
	if len(id) == shortIDLength && strings.IndexFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	digits := new(big.Int).SetBytes(sum[:]).Text(62)
	return digits[:shortIDLength]
}

// numberIDs replaces call ids by those that Kimi K2 writes: the name of the tool
// and the number of the call in the conversation.
func numberIDs(turns []turn) {
	numbered := map[string]string{}
	calls := 0
	for i := range turns {
		t := &turns[i]
		t.calls = slices.Clone(t.calls)
		for k := range t.calls {
			call := &t.calls[k]
			id := fmt.Sprintf("functions.%s:%d", call.Name, calls)
			numbered[call.ID], call.ID = id, id
			calls++
		}
		if id, ok := numbered[t.callID]; ok && t.role == engine.RoleTool {
			t.callID = id
		}
	}
}

// repairs are applied one after the other, cumulatively, until the template
// accepts the conversation. None drops text.
var repairs = []func([]turn) []turn{
	func(turns []turn) []turn { return turns },
	alternate,
	withoutReasoningBesideCalls,
}

// alternate makes user and assistant turns alternate: adjacent turns of one role
// are merged, and a blank turn fills each gap. Mistral's templates do not count
// calls and results, so a user turn after a result needs a blank answer before it,
// and they reject an empty one.
func alternate(turns []turn) []turn {
	var joined []turn
	for _, t := range turns {
		if n := len(joined); n > 0 && joined[n-1].role == t.role && t.role != engine.RoleTool {
			joined[n-1] = mergeTurns(joined[n-1], t)
			continue
		}
		joined = append(joined, t)
	}
	var out []turn
	next := engine.RoleUser
	for _, t := range joined {
		if t.role.Instructs() || t.role == engine.RoleTool || len(t.calls) > 0 {
			out = append(out, t)
			continue
		}
		if t.role != next {
			out = append(out, turn{role: next, text: " "})
		}
		out = append(out, t)
		next = engine.RoleUser
		if t.role == engine.RoleUser {
			next = engine.RoleAssistant
		}
	}
	return out
}

// withoutReasoningBesideCalls drops earlier reasoning from turns with calls and
// text, for templates that show only one of the two.
func withoutReasoningBesideCalls(turns []turn) []turn {
	turns = slices.Clone(turns)
	for i := range turns {
		if len(turns[i].calls) > 0 && turns[i].text != "" {
			turns[i].reasoning = ""
		}
	}
	return turns
}
