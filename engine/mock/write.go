package mock

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
	"github.com/diglot/diglot/engine/mock/value"
)

// write returns the whole output for a job, as a model of the format hermes would write it.
func write(ctx context.Context, job chat.Job) (string, error) {
	w := &writer{req: job.Request, choice: job.Choice, matcher: job.Constraint}
	w.reason()
	calls := called(job.Request)
	var err error
	switch {
	case len(calls) > 0:
		err = w.calls(ctx, calls)
	case job.Request.Format.Kind != engine.FormatText:
		err = w.json(ctx)
	default:
		w.say()
	}
	if err == nil && w.matcher != nil && !w.matcher.Complete() {
		err = w.impossible()
	}
	return w.text.String(), err
}

// writer writes one output within its constraint.
type writer struct {
	req     *engine.Request
	choice  int
	matcher *grammar.Matcher // nil: no constraint
	text    strings.Builder
}

// put appends text, if the constraint allows it.
func (w *writer) put(text string) bool {
	if w.matcher != nil && !w.matcher.Accept([]byte(text)) {
		return false
	}
	w.text.WriteString(text)
	return true
}

// impossible is the error of a request whose constraint nothing was found for.
func (w *writer) impossible() error {
	if w.matcher != nil && w.matcher.Err() != nil {
		return chat.MatchError(w.req, w.matcher.Err())
	}
	place := engine.Place{Field: engine.FieldFormat}
	if len(w.req.Tools) > 0 {
		place.Field = engine.FieldTools
	}
	err := engine.Errorf(engine.CodeUnsupported, "The mock found no value that follows the schemas of this request.").At(place)
	err.NoRetry = true
	return err
}

func (w *writer) reason() {
	if w.req.Reasoning.Mode == engine.ReasoningOn && w.req.Prompt == nil {
		w.put(fmt.Sprintf("<think>\nThe request has %d messages, and I answer the last one.\n</think>\n\n", len(w.req.Messages)))
	}
}

// calls writes tool calls.
func (w *writer) calls(ctx context.Context, tools []engine.Tool) error {
	for i, tool := range tools {
		if i > 0 {
			w.put("\n")
		}
		if !w.put("<tool_call>\n{\"name\": " + strconv.Quote(tool.Name) + ", \"arguments\": ") {
			return w.impossible()
		}
		if err := w.value(ctx, tool.Parameters); err != nil {
			return err
		}
		if !w.put("}\n</tool_call>") {
			return w.impossible()
		}
	}
	return nil
}

// free leads the value of JSON mode, which has no schema.
const free = `{"type":"object","properties":{"answer":{"type":"string"}}}`

// json writes a value in the format of the request.
func (w *writer) json(ctx context.Context) error {
	if w.req.Format.Kind == engine.FormatSchema {
		return w.value(ctx, w.req.Format.Schema)
	}
	return w.value(ctx, []byte(free))
}

func (w *writer) value(ctx context.Context, schema []byte) error {
	if w.matcher == nil {
		return w.impossible()
	}
	written, ok := value.Write(ctx, w.matcher, schema, uint64(w.choice))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !ok || !w.put(string(written)):
		return w.impossible()
	}
	return nil
}

// say writes text, then the first stop string.
func (w *writer) say() {
	w.put(sentence(w.req, w.choice))
	for _, stop := range w.req.Stop {
		if stop != "" && w.put(" "+stop) {
			return
		}
	}
}

// sentence is the text of an answer.
func sentence(req *engine.Request, choice int) string {
	start := ""
	if choice > 0 {
		start = fmt.Sprintf("Choice %d. ", choice+1)
	}
	if req.Prompt != nil {
		return " " + start + "This continues the prompt, which ends with " + quoted(tail(req.Prompt.Text)) + "."
	}
	said, text := "You said", lastText(req.Messages, engine.RoleUser)
	if answered(req.Messages) {
		said, text = "The tools returned", lastText(req.Messages, engine.RoleTool)
	}
	return start + said + " " + quoted(text) + ". This reply is made from the request, without a model."
}

// tail is the end of a text, for an excerpt.
func tail(text string) string {
	runes := []rune(text[max(0, len(text)-4*excerpt):])
	return string(runes[max(0, len(runes)-excerpt):])
}

// excerpt is the most characters of a quotation.
const excerpt = 60

// quoted quotes the start of a text. Signs that markup is made of are left out: a reply
// must not look like a call.
func quoted(text string) string {
	var b strings.Builder
	n := 0
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(",.;:?!'-", r):
			continue
		}
		if n++; n > excerpt {
			b.WriteString("…")
			break
		}
		if space {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(r)
	}
	return `"` + b.String() + `"`
}

// lastText is the text of the last message of a role.
func lastText(messages []engine.Message, role engine.Role) string {
	for _, m := range slices.Backward(messages) {
		if m.Role != role {
			continue
		}
		if s := partsText(m.Parts); s != "" {
			return s
		}
	}
	return ""
}

func partsText(parts []engine.Part) string {
	var lines []string
	for _, p := range parts {
		switch p := p.(type) {
		case engine.Text:
			lines = append(lines, p.Text)
		case engine.ToolResult:
			lines = append(lines, partsText(p.Parts))
		}
	}
	return strings.Join(lines, "\n")
}

// answered reports whether a tool result has come back since the assistant's last turn.
func answered(messages []engine.Message) bool {
	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case engine.RoleTool:
			return true
		case engine.RoleAssistant:
			return false
		}
	}
	return false
}

// maxCalls is the most calls of one answer.
const maxCalls = 8

// called returns the tools that the answer calls.
func called(req *engine.Request) []engine.Tool {
	choice := req.ToolChoice
	if choice.Mode == engine.ToolNone || choice.Mode == engine.ToolAuto && answered(req.Messages) {
		return nil
	}
	var offered, named []engine.Tool
	text := strings.ToLower(lastText(req.Messages, engine.RoleUser))
	for _, tool := range req.Tools {
		if len(choice.Names) > 0 && !slices.Contains(choice.Names, tool.Name) {
			continue
		}
		offered = append(offered, tool)
		if strings.Contains(text, strings.ToLower(tool.Name)) {
			named = append(named, tool)
		}
	}
	most := maxCalls
	if choice.Single {
		most = 1
	}
	switch {
	case len(named) > 0:
		return named[:min(len(named), most)]
	case len(offered) > 0:
		return offered[:1]
	}
	return nil
}
