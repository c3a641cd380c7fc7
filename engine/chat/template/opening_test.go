package template

import (
	"encoding/json"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// TestOpeningOfHostileTexts: texts that are in what the template writes, and
// that have it in them.
func TestOpeningOfHostileTexts(t *testing.T) {
	const (
		thinks   = `{% for m in messages %}[{{ m.role }}:{{ m.content | trim }}]{% endfor %}{% if add_generation_prompt %}[assistant:<think>{{ "\n" }}{% endif %}`
		headless = `{% for m in messages %}{% if m.role == 'assistant' %}[assistant:<think></think>{{ m.content }}{% for c in m.tool_calls %}` +
			`<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</tool_call>{% endfor %}` +
			`{% else %}[{{ m.role }}:{{ m.content }}]{% endif %}{% endfor %}` +
			`{% if add_generation_prompt and messages[-1].role != 'tool' %}[assistant:{% endif %}`
		silent = `{% set ns = namespace(tool=false) %}{% for m in messages %}{% if m.role == 'assistant' %}{% if not ns.tool %}[assistant:<think></think>{% endif %}{{ m.content }}` +
			`{% for c in m.tool_calls %}<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</tool_call>{% endfor %}` +
			`{% else %}[{{ m.role }}:{{ m.content }}]{% endif %}{% set ns.tool = m.role == 'tool' %}{% endfor %}` +
			`{% if add_generation_prompt and messages[-1].role == 'user' %}[assistant:{% endif %}`
		exchange = "{{ if .System }}[system:{{ .System }}]{{ end }}{{ if .Prompt }}[user:{{ .Prompt }}]{{ end }}[assistant:{{ .Response }}]"
	)
	user := func(text string) []engine.Message { return []engine.Message{say("user", text)} }
	result := func(text string) []engine.Message {
		return []engine.Message{say("user", "u"), callMessage("", engine.ToolCall{ID: "c", Name: "f", Arguments: "{}"}), resultMessage("c", "f", text)}
	}
	continued := func(text string) []engine.Message { return append(result(text), say("assistant", "It is")) }
	arguments := func(text string) []engine.Message {
		members, _ := json.Marshal(map[string]string{"a": text})
		return []engine.Message{say("user", "u"), callMessage("", engine.ToolCall{ID: "c", Name: "f", Arguments: string(members)})}
	}
	picture := func(text string) []engine.Message {
		return []engine.Message{say("user", text), say("assistant", text), {Role: engine.RoleUser, Parts: []engine.Part{engine.Image{Data: []byte("x")}}}}
	}
	for _, tt := range []struct {
		name, source string
		last         func(string) []engine.Message
		want         string
	}{
		{"reasoning is opened", thinks, user, "<think>\n"},
		{"no header behind a result", headless, result, ""},
		{"no header behind a result, and an answer that is begun", silent, continued, ""},
		{"no header behind a call", silent, arguments, ""},
		{"a picture without words", thinks, picture, "<think>\n"},
		{"a Go template of one exchange", exchange, user, ""},
	} {
		tpl := mustTemplate(t, tt.source, Model{})
		for _, text := range []string{
			"plain", "hi", "think", "<think>\n", "", " ", "\n", "[assistant:", "[assistant:<think>", "<think>", "</think>", "x[assistant:<think>\nx", control.Continuation, control.Boundary,
		} {
			got, err := tpl.Render(t.Context(), &engine.Request{Messages: tt.last(text)})
			if err != nil || got.Opening != tt.want {
				t.Errorf("%s, %q: opening %q, %v; want %q", tt.name, text, got.Opening, err, tt.want)
			}
		}
	}
}

// TestMarksAreOurs: a client that writes the marks that templates get from us
// has written text.
func TestMarksAreOurs(t *testing.T) {
	const exchange = "{{ if .System }}[system:{{ .System }}]{{ end }}{{ if .Prompt }}[user:{{ .Prompt }}]{{ end }}[assistant:{{ .Response }}]"
	for name, source := range map[string]string{"Jinja": anyTurn, "Go": exchange} {
		tpl := mustTemplate(t, source, Model{})
		for _, text := range []string{control.Continuation, control.Boundary, control.Continuation + control.Boundary, "a" + control.Boundary} {
			for _, tt := range []struct {
				messages []engine.Message
				want     string
			}{
				{[]engine.Message{say("user", text)}, "[user:" + text + "][assistant:"},
				{[]engine.Message{say("system", text), say("user", "u")}, "[system:" + text + "][user:u][assistant:"},
				{[]engine.Message{say("user", text), say("assistant", text), say("user", "v")},
					"[user:" + text + "][assistant:" + text + "][user:v][assistant:"},
				{[]engine.Message{say("user", "u"), say("assistant", text)}, "[user:u][assistant:" + text},
			} {
				got, err := tpl.Render(t.Context(), &engine.Request{Messages: tt.messages})
				if prompt := (prompt.Prompt{Spans: got.Spans}).String(); err != nil || prompt != tt.want {
					t.Errorf("%s: prompt %q, %v; want %q", name, prompt, err, tt.want)
				}
			}
		}
	}
}
