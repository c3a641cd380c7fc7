package main

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chatML is a template that shows calls, and toolList what shows tools.
const (
	chatML = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}</tool_call>{% endfor %}<|im_end|>
{% endfor %}<|im_start|>assistant
`
	toolList = `{% if tools %}{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %}`
)

// TestCapabilities shows what models are for, as their files tell.
func TestCapabilities(t *testing.T) {
	u := newUser(t)
	u.model("jinja", "")
	u.embeds("embeds")
	u.must("create", "far", "--quiet", "-f", u.write("far", "FROM https://api.example.com/v1\nPARAMETER model big\n"))
	for name, template := range map[string]string{
		"plain": "{{ .System }} {{ .Prompt }}",
		"tools": "{{ .Tools }}{{ range .Messages }}{{ .Role }}: {{ .Content }}" +
			`{{ range .ToolCalls }}<tool_call>{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}</tool_call>{{ end }}` + "\n{{ end }}",
		"thinks": "{{ range .Messages }}{{ .Role }}: {{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}\n{{ end }}",
	} {
		u.model(name, `TEMPLATE """`+template+`"""`)
	}
	for name, want := range map[string][]string{
		"jinja":  {"completion", "chat"},
		"plain":  {"completion", "chat"},
		"tools":  {"completion", "chat", "tools"},
		"thinks": {"completion", "chat", "thinking"},
		"embeds": {"embeddings"},
		"far":    {},
	} {
		var got descriptionJSON
		if err := json.Unmarshal([]byte(u.must("show", name, "--json")), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Capabilities); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, want := range map[string][]string{
		chatML:                {"chat"},
		toolList + chatML:     {"chat", "tools"},
		"{{ no such template": nil,
	} {
		if diff := cmp.Diff(want, templateCapabilities(tried(), name)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}
