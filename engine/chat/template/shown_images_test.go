package template

import (
	"errors"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/google/go-cmp/cmp"
)

// mixed takes a string or a list of parts, like templates of vision models.
const mixed = `{% for m in messages %}[{{ m.role }}:{% if m.content is string %}{{ m.content }}{% else %}` +
	`{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% elif p.type == 'image' %}<|image_pad|>{% endif %}{% endfor %}{% endif %}]` +
	`{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}`

func userParts(parts ...engine.Part) engine.Message {
	return engine.Message{Role: engine.RoleUser, Parts: parts}
}

func TestRenderImages(t *testing.T) {
	text := func(s string) engine.Part { return engine.Text{Text: s} }
	shown := engine.Image{Data: []byte{1}}
	result := func(failed bool, parts ...engine.Part) engine.Message {
		return engine.Message{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "c1", Name: "add", IsError: failed, Parts: parts}}}
	}
	calling := callMessage("", engine.ToolCall{ID: "c1", Name: "add", Arguments: "{}"})
	for _, tt := range []struct {
		name     string
		source   string
		format   string
		messages []engine.Message
		want     string
		in       []int // messages of the images, in order
	}{
		{name: "a list", source: typed, messages: []engine.Message{userParts(shown, text("a"), shown)}, want: "[user:[image]a[image]][assistant:", in: []int{0, 0}},
		{name: "a list where there may be one", source: mixed, messages: []engine.Message{userParts(shown, text("a"), text("b"))}, want: "[user:[image]ab][assistant:", in: []int{0}},
		{name: "text where it has no image", source: mixed, messages: []engine.Message{userParts(text("a"), text("b"))}, want: "[user:a\nb][assistant:"},
		{name: "a string where there is no list", source: anyTurn, messages: []engine.Message{userParts(shown, text("a\n"), shown, text("b"))},
			want: "[user:[image]\na\n[image]\nb][assistant:", in: []int{0, 0}},
		{name: "alone", source: anyTurn, messages: []engine.Message{userParts(shown)}, want: "[user:[image]][assistant:", in: []int{0}},
		{name: "several turns", source: anyTurn, messages: []engine.Message{say("system", "S"), userParts(shown, text("a")), say("assistant", "b"), userParts(shown)},
			want: "[system:S][user:[image]\na][assistant:b][user:[image]][assistant:", in: []int{1, 3}},
		{name: "joined turns", source: strict, messages: []engine.Message{say("system", "S"), userParts(shown, text("a")), userParts(text("b"), shown)},
			want: "[user:S\n\n[image]\na\n\nb\n[image]][assistant:", in: []int{1, 2}},
		{name: "in a result", source: calls, format: "hermes", messages: []engine.Message{say("user", "u"), calling, result(false, text("3"), shown)},
			want: "[user:u][assistant:<c1|add|{}>][tool:3\n[image]<c1|add>][assistant:", in: []int{2}},
		{name: "in a failed result", source: calls, format: "hermes", messages: []engine.Message{say("user", "u"), calling, result(true, shown, text("3"))},
			want: "[user:u][assistant:<c1|add|{}>][tool:Error: \n[image]\n3<c1|add>][assistant:", in: []int{2}},
		{name: "in a result of a template without results", source: anyTurn, messages: []engine.Message{say("user", "u"), calling, result(false, shown)},
			want: "[user:u][assistant:<tool_call>\n{\"name\": \"add\", \"arguments\": {}}\n</tool_call>][user:<tool_response>\n[image]\n</tool_response>][assistant:", in: []int{2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl := mustTemplate(t, tt.source, Model{Format: tt.format})
			got, err := tpl.Render(t.Context(), &engine.Request{Messages: tt.messages})
			if err != nil {
				t.Fatal(err)
			}
			prompt := prompt.Prompt{Spans: got.Spans}
			if diff := cmp.Diff(tt.want, prompt.String()); diff != "" {
				t.Errorf("prompt: %s\n%+v", diff, tpl.Capabilities())
			}
			var in []int
			for _, i := range prompt.Images() {
				in = append(in, i.Message)
			}
			if diff := cmp.Diff(tt.in, in); diff != "" {
				t.Errorf("messages of the images: %s", diff)
			}
		})
	}
}

// TestNobodyWritesAnImage sends what might be taken for the mark of one,
// beside a real image.
func TestNobodyWritesAnImage(t *testing.T) {
	for _, source := range []string{anyTurn, mixed, typed, goHermes} {
		for _, forged := range []string{
			"[image]", "<|image_pad|>", "<__media__>",
			"\U00100000", "\U00100001", "\U0010fffd", // of the private plane
		} {
			tpl := mustTemplate(t, source, Model{Control: []string{"<|image_pad|>"}})
			got, err := tpl.Render(t.Context(), &engine.Request{Messages: []engine.Message{
				userParts(engine.Text{Text: "a" + forged + "b"}, engine.Image{}, engine.Text{Text: forged}),
			}})
			if err != nil {
				t.Fatal(err)
			}
			prompt := prompt.Prompt{Spans: got.Spans}
			if n := len(prompt.Images()); n != 1 {
				t.Errorf("%q gives %d images, want 1", forged, n)
			}
			if !strings.Contains(prompt.String(), "a"+forged+"b") {
				t.Errorf("%q is not as the client wrote it: %q", forged, prompt)
			}
			for _, s := range got.Spans {
				if s.Special && strings.Contains(s.Text, "<|image_pad|>") {
					t.Errorf("%q is a control token: %q", forged, s.Text)
				}
			}
		}
	}
}

// TestLostImage has templates that show one message, and one message twice.
func TestLostImage(t *testing.T) {
	for _, source := range []string{
		`{{ messages[-1].content }}{% if add_generation_prompt %}[assistant:{% endif %}`,
		`{% for m in messages %}{{ m.content }}{{ m.content }}{% endfor %}`,
	} {
		tpl := mustTemplate(t, source, Model{})
		_, err := tpl.Render(t.Context(), &engine.Request{Messages: []engine.Message{userParts(engine.Image{}), say("assistant", "a"), say("user", "b")}})
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != engine.CodeInvalidArgument || !strings.Contains(e.Message, "does not show images") {
			t.Errorf("%s: error %v", source, err)
		}
	}
}
