package template

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// boundedWriter collects a prompt within the limits.
type boundedWriter struct {
	r      goRendering
	text   strings.Builder
	writes int
}

func (w *boundedWriter) Write(b []byte) (int, error) {
	if w.text.Len()+len(b) > bounds.MaxPrompt {
		return 0, fmt.Errorf("the prompt has more than %d bytes", bounds.MaxPrompt)
	}
	err := w.r.Charge(2 * int64(len(b)))
	w.writes++
	if w.writes == manyWrites && err == nil {
		err = w.r.Begin() // may be a deep recursion
	}
	if w.writes%checkWrites == 0 && err == nil {
		err = w.r.Check(0)
	}
	if err != nil {
		return 0, err
	}
	return w.text.Write(b)
}

// execute runs the template once.
func (g *goTemplate) execute(w *boundedWriter, data map[string]any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the template engine panicked: %v", p)
		}
	}()
	own, err := g.compiled.Clone() // for functions bound to this Meter
	if err != nil {
		return err
	}
	w.r.given = goSize(reflect.ValueOf(data))
	return own.Funcs(goFunctions(g.now, &w.r)).Execute(w, data)
}

// prompt renders a conversation. level is the reasoning effort, or empty.
func (g *goTemplate) prompt(m *bounds.Meter, c conversation, level string, mask *control.Mask) (string, error) {
	messages := g.messages(c, mask)
	tools, err := g.tools(c.tools, mask)
	if err != nil {
		return "", err
	}
	w := &boundedWriter{r: goRendering{Meter: m}}
	run := func(data map[string]any) error {
		mode := c.reasoning.Mode
		data["Think"] = mode == engine.ReasoningOn || mode == engine.ReasoningDefault && level != ""
		data["ThinkLevel"] = level
		data["IsThinkSet"] = mode != engine.ReasoningDefault || level != ""
		data["Suffix"] = "" // absent, it prints "<no value>"
		return g.execute(w, data)
	}
	if !g.usesMessages {
		err := g.exchanges(messages, run)
		return cutResponse(w.text.String(), c), err
	}
	var system []string
	for _, m := range messages {
		if m.Role == string(engine.RoleSystem) {
			system = append(system, m.Content)
		}
	}
	err = run(map[string]any{
		"System":   strings.Join(system, "\n\n"),
		"Messages": messages,
		"Tools":    tools,
		"Prompt":   "",
		"Response": "",
	})
	return w.text.String(), err
}

// exchanges executes a template of one exchange for each in the conversation. The
// response of the last one is Continuation.
func (g *goTemplate) exchanges(messages []*goMessage, run func(map[string]any) error) error {
	next := map[string]string{}
	flush := func() error {
		data := map[string]any{"System": next["System"], "Prompt": next["Prompt"], "Response": next["Response"]}
		clear(next)
		return run(data)
	}
	order := []string{"System", "Prompt", "Response"}
	place := map[string]int{string(engine.RoleSystem): 0, string(engine.RoleUser): 1, string(engine.RoleAssistant): 2}
	filled := -1 // the last field set in this exchange
	for _, m := range messages {
		at, ok := place[m.Role]
		if !ok {
			continue
		}
		if filled >= at {
			if err := flush(); err != nil {
				return err
			}
		}
		next[order[at]], filled = m.Content, at
	}
	if next["Response"] == "" {
		next["Response"] = control.Continuation
	}
	return flush()
}

// cutResponse cuts what a template writes after the response. If the answer
// continues a turn, renderPrefix cuts it.
func cutResponse(text string, c conversation) string {
	if c.continues() {
		return text
	}
	before, _, _ := strings.Cut(text, control.Continuation)
	return before
}
