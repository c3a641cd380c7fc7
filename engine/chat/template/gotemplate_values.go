package template

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/ollama/ollama/api"
)

// goMessage is one turn with the field names of Ollama's templates.
type goMessage struct {
	Role       string
	Content    string
	Thinking   string
	Images     []string // one per placeholder in Content
	ToolCalls  []goCall
	ToolName   string
	ToolCallID string
}

type goCall struct {
	ID       string         `json:"id,omitempty"`
	Function goCallFunction `json:"function"`
}

func (c goCall) String() string { return printJSON(c) }

type goCallFunction struct {
	Index     int    `json:"-"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"` // jsonText or goMap
}

func (f goCallFunction) String() string { return printJSON(f) }

// goMap is an object that a template may index. It prints as JSON.
type goMap map[string]any

func (m goMap) String() string { return printJSON(m) }

// goList is an array in such an object.
type goList []any

func (l goList) String() string { return printJSON(l) }

// printable converts the objects and arrays in a value to goMap and goList.
func printable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(goMap, len(v))
		for key, member := range v {
			m[key] = printable(member)
		}
		return m
	case []any:
		l := make(goList, len(v))
		for i, item := range v {
			l[i] = printable(item)
		}
		return l
	}
	return v
}

// goTools print as the client's JSON, as does each of them.
type goTools []goTool

func (t goTools) String() string { return printJSON(t) }

type goTool struct {
	Type     string     `json:"type"`
	Function goFunction `json:"function"`
}

func (t goTool) String() string { return printJSON(t) }

type goFunction struct {
	Name        string       `json:"name"`
	Description string       `json:"description"`
	Parameters  goParameters `json:"parameters"`
}

func (f goFunction) String() string { return printJSON(f) }

// goParameters is a schema with the fields that templates read.
type goParameters struct {
	Type        string
	Required    []string
	Properties  any // jsonText or goProperties
	Defs, Items any
	text        jsonText
}

// MarshalJSON implements [json.Marshaler].
func (p goParameters) MarshalJSON() ([]byte, error) { return p.text.MarshalJSON() }

func (p goParameters) String() string { return string(p.text) }

type goProperties map[string]api.ToolProperty

func (p goProperties) String() string { return printJSON(p) }

// messages converts turns. Adjacent turns of one role become one message, as in
// Ollama.
func (g *goTemplate) messages(c conversation, mask *control.Mask) []*goMessage {
	var all []*goMessage
	add := func(turn turn) {
		m := g.message(turn, mask)
		if n := len(all); n > 0 && g.joins(all[n-1], m) {
			all[n-1].join(m)
			return
		}
		all = append(all, m)
	}
	for _, t := range c.turns {
		if g.textOrCalls && t.text != "" && len(t.calls) > 0 {
			add(turn{role: t.role, text: t.text, parts: t.parts, reasoning: t.reasoning, mark: t.mark})
			t = turn{role: t.role, calls: t.calls}
		}
		add(t)
	}
	return all
}

// joins reports whether adjacent messages become one.
func (g *goTemplate) joins(a, b *goMessage) bool {
	calls := len(a.ToolCalls)+len(b.ToolCalls) > 0
	return a.Role == b.Role && a.Role != string(engine.RoleTool) && !(calls && g.textOrCalls)
}

func (g *goTemplate) message(turn turn, mask *control.Mask) *goMessage {
	m := &goMessage{
		Role:     string(turn.role),
		Thinking: mask.Text(turn.reasoning),
	}
	var b strings.Builder
	for _, p := range turn.parts {
		if _, ok := p.(imagePart); ok {
			b.WriteString(partText(p, mask))
			m.Images = append(m.Images, "")
		}
	}
	b.WriteString(turn.masked(mask))
	m.Content = b.String()
	if turn.role == engine.RoleTool {
		m.ToolName, m.ToolCallID = mask.Text(turn.name), mask.Text(turn.callID)
	}
	for i, call := range turn.calls {
		m.ToolCalls = append(m.ToolCalls, goCall{
			ID:       mask.Text(call.ID),
			Function: goCallFunction{Index: i, Name: mask.Text(call.Name), Arguments: g.arguments(call.Arguments, mask)},
		})
	}
	return m
}

// join appends the next message of the same role.
func (m *goMessage) join(next *goMessage) {
	text := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + "\n\n" + b
	}
	m.Content, m.Thinking = text(m.Content, next.Content), text(m.Thinking, next.Thinking)
	m.Images = append(m.Images, next.Images...)
	for _, call := range next.ToolCalls {
		call.Function.Index = len(m.ToolCalls)
		m.ToolCalls = append(m.ToolCalls, call)
	}
}

// arguments are those of a call: the model's text if the template only prints
// them, else an object.
func (g *goTemplate) arguments(raw string, mask *control.Mask) any {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		raw = "{}"
	}
	if g.printsArguments {
		return jsonText(mask.Text(raw))
	}
	masked, err := maskJSON([]byte(raw), mask.Text)
	var object map[string]any
	if err != nil || decodeJSON([]byte(masked), &object) != nil || object == nil {
		return goMap{"arguments": mask.Text(raw)}
	}
	return printable(object)
}

// tools converts tools.
func (g *goTemplate) tools(tools []engine.Tool, mask *control.Mask) (goTools, error) {
	var all goTools
	for i, tool := range tools {
		masked, err := maskJSON(schemaOf(tool), mask.Text)
		if err != nil {
			return nil, invalidSchema(i, err)
		}
		all = append(all, goTool{Type: "function", Function: goFunction{
			Name:        mask.Text(tool.Name),
			Description: mask.Text(tool.Description),
			Parameters:  g.parameters(masked),
		}})
	}
	return all, nil
}

// parameters reads the fields of a schema that templates use. A field of an
// unexpected type stays empty.
func (g *goTemplate) parameters(schema jsonText) goParameters {
	p := goParameters{text: schema}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(schema), &members) != nil {
		return p
	}
	read := func(name string, target any) { _ = decodeJSON(members[name], target) }
	read("type", &p.Type)
	read("required", &p.Required)
	read("$defs", &p.Defs)
	read("items", &p.Items)
	var raw map[string]json.RawMessage
	read("properties", &raw)
	if g.printsProperties {
		p.Properties = jsonText(members["properties"])
		return p
	}
	properties := make(goProperties, len(raw))
	for name, property := range raw {
		var v api.ToolProperty
		_ = json.Unmarshal(property, &v)
		if len(v.Type) == 0 {
			v.Type = api.PropertyType{"any"} // templates take the first one
		}
		properties[name] = v
	}
	p.Properties = properties
	return p
}

// goData has a value of each type in a template's data.
func goData() []any {
	return []any{
		goMessage{}, goCall{}, goCallFunction{}, goMap{}, goList{}, goTools{}, goTool{}, goFunction{}, goParameters{}, goProperties{}, jsonText(""),
		api.ToolProperty{}, api.ToolPropertiesMap{}, api.PropertyType{},
	}
}

// goMethods are the names of their methods.
func goMethods() map[string]bool {
	names := map[string]bool{}
	for _, v := range goData() {
		pointer := reflect.PointerTo(reflect.TypeOf(v)) // it has those of the value too
		for i := range pointer.NumMethod() {
			names[pointer.Method(i).Name] = true
		}
	}
	return names
}
