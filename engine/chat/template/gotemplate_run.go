package template

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// boundedWriter collects a prompt until there is too much of it, or it took
// too long or too much memory.
type boundedWriter struct {
	r      goRendering
	text   strings.Builder
	writes int
}

func (w *boundedWriter) Write(b []byte) (int, error) {
	if w.text.Len()+len(b) > bounds.MaxPrompt {
		return 0, fmt.Errorf("the prompt has more than %d bytes", bounds.MaxPrompt)
	}
	err := w.r.Grow(2 * int64(len(b)))
	w.writes++
	if w.writes == manyWrites && err == nil {
		err = w.r.Begin() // it may be deep: a template may call itself
	}
	if w.writes%lookWrites == 0 && err == nil {
		err = w.r.Look(0)
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
	own, err := g.compiled.Clone() // for functions that know how much there is left
	if err != nil {
		return err
	}
	w.r.given = goSize(reflect.ValueOf(data))
	return own.Funcs(goFunctions(g.now, &w.r)).Execute(w, data)
}

// prompt renders a conversation. level is that of thinking, where one was
// asked for.
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
		data["Suffix"] = "" // an absent one would be printed as that
		return g.execute(w, data)
	}
	if !g.whole {
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

// exchanges runs a template of one exchange for each in the conversation. The
// last one, whose answer is asked for, has the continuation for its answer.
func (g *goTemplate) exchanges(messages []*goMessage, run func(map[string]any) error) error {
	next := map[string]string{}
	flush := func() error {
		data := map[string]any{"System": next["System"], "Prompt": next["Prompt"], "Response": next["Response"]}
		clear(next)
		return run(data)
	}
	order := []string{"System", "Prompt", "Response"}
	place := map[string]int{string(engine.RoleSystem): 0, string(engine.RoleUser): 1, string(engine.RoleAssistant): 2}
	filled := -1 // the last place that is taken in this exchange
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

// cutResponse cuts what a template writes behind the answer that it is asked
// for. The text of an answer that is begun is cut by whoever knows it.
func cutResponse(text string, c conversation) string {
	if c.continues() {
		return text
	}
	before, _, _ := strings.Cut(text, control.Continuation)
	return before
}
