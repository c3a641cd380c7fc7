package template

import (
	"errors"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/google/go-cmp/cmp"
)

// Small templates with one peculiarity each, as real ones have them.
const (
	// anyTurn takes any role at any place.
	anyTurn = `{% for m in messages %}[{{ m.role }}:{{ m.content }}]{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}`

	// firstSystem shows a system turn only in front, and leaves out others.
	firstSystem = `{% for m in messages %}{% if m.role != 'system' or loop.first %}[{{ m.role }}:{{ m.content }}]{% endif %}{% endfor %}` +
		`{% if add_generation_prompt %}[assistant:{% endif %}`

	// strict has no system role and wants user and assistant to take turns.
	strict = `{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}` +
		`{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/...') }}{% endif %}` +
		`[{{ m.role }}:{{ m.content }}]{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}`

	// typed takes only lists of parts.
	typed = `{% for m in messages %}[{{ m.role }}:{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}{% elif p.type == 'image' %}<img>` +
		`{% endif %}{% endfor %}]{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}`

	// calls shows tools, calls and results, arguments as JSON text.
	calls = `{% for t in tools or [] %}[tool:{{ t | tojson }}]{% endfor %}{% for m in messages %}[{{ m.role }}:{{ m.content }}` +
		`{% for c in m.tool_calls %}<{{ c.id }}|{{ c.function.name }}|{{ c.function.arguments }}>{% endfor %}` +
		`{% if m.role == 'tool' %}<{{ m.tool_call_id }}|{{ m.name }}>{% endif %}]{% endfor %}{% if add_generation_prompt %}[assistant:{% endif %}`
)

// objectCalls wants arguments as objects, ids of nine letters, one call in a
// turn, and null beside it.
var objectCalls = strings.NewReplacer(
	`{% for c in`, `{% if m.tool_calls and (m.content is not none or m.tool_calls|length > 1 or m.tool_calls[0].id|length != 9) %}{{ raise_exception('no') }}{% endif %}{% for c in`,
	`{{ c.function.arguments }}`, `{% for k, v in c.function.arguments.items() %}{{ k }}={{ v }};{% endfor %}`,
	`[{{ m.role }}:{{ m.content }}`, `[{{ m.role }}:{{ m.content or '' }}`,
).Replace(calls)

// thinker shows reasoning, opens it itself, and has a switch.
const thinker = `{% for m in messages %}[{{ m.role }}:{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}]` +
	`{% endfor %}{% if add_generation_prompt %}[assistant:<think>{% if enable_thinking is defined and not enable_thinking %}</think>{% endif %}{% endif %}`

func TestRender(t *testing.T) {
	add := engine.Tool{Name: "add"}
	call := func(id, arguments string) engine.ToolCall {
		return engine.ToolCall{ID: id, Name: "add", Arguments: arguments}
	}
	image := engine.Image{Data: []byte{1}, MediaType: "image/png"}
	off := engine.Reasoning{Mode: engine.ReasoningOff}
	for _, tt := range []struct {
		name      string
		source    string
		messages  []engine.Message
		tools     []engine.Tool
		choice    engine.ToolMode
		reasoning engine.Reasoning
		format    string
		want      string
		opening   string
	}{
		{name: "plain", source: anyTurn, messages: []engine.Message{say("user", "Hi")}, want: "[user:Hi][assistant:"},
		{name: "text parts", source: anyTurn, want: "[user:a\nb][assistant:",
			messages: []engine.Message{{Role: "user", Parts: []engine.Part{engine.Text{Text: "a"}, engine.Text{Text: "b"}}}}},
		{name: "developer is system", source: anyTurn, messages: []engine.Message{say("developer", "D"), say("user", "Hi")},
			want: "[system:D][user:Hi][assistant:"},
		{name: "system anywhere", source: anyTurn, want: "[system:A][system:B][user:u][assistant:a][system:C][user:v][assistant:",
			messages: []engine.Message{say("system", "A"), say("developer", "B"), say("user", "u"), say("assistant", "a"), say("system", "C"), say("user", "v")}},
		{name: "system only in front", source: firstSystem, want: "[system:A\n\nB][user:u][assistant:a][user:C][user:v][assistant:",
			messages: []engine.Message{say("system", "A"), say("system", "B"), say("user", "u"), say("assistant", "a"), say("system", "C"), say("user", "v")}},
		{name: "no system role", source: strict, want: "[user:A\n\nu][assistant:",
			messages: []engine.Message{say("system", "A"), say("user", "u")}},
		{name: "nothing but a system turn", source: strict, want: "[user:A][assistant:",
			messages: []engine.Message{say("system", "A")}},
		{name: "roles that must alternate", source: strict, want: "[user:a\n\nb][assistant:c][user:S\n\nd][assistant:",
			messages: []engine.Message{say("user", "a"), say("user", "b"), say("assistant", "c"), say("system", "S"), say("user", "d")}},
		{name: "assistant first", source: strict, want: "[user: ][assistant:c][user:d][assistant:",
			messages: []engine.Message{say("assistant", "c"), say("user", "d")}},
		{name: "typed content", source: typed, want: "[user:a\nb][assistant:",
			messages: []engine.Message{{Role: "user", Parts: []engine.Part{engine.Text{Text: "a"}, engine.Text{Text: "b"}}}}},
		{name: "image", source: typed, want: "[user:a[image]b][assistant:",
			messages: []engine.Message{{Role: "user", Parts: []engine.Part{engine.Text{Text: "a"}, image, engine.Text{Text: "b"}}}}},
		{name: "prefill", source: anyTurn, want: "[user:Hi][assistant: Once <",
			messages: []engine.Message{say("user", "Hi"), say("assistant", " Once <")}},
		{name: "prefill of typed content", source: typed, want: "[user:Hi][assistant:Once",
			messages: []engine.Message{say("user", "Hi"), say("assistant", "Once")}},
		{name: "calls with text arguments", source: calls, format: "hermes", tools: []engine.Tool{add},
			want: `[tool:{"type": "function", "function": {"name": "add", "description": "", "parameters": {"type": "object", "properties": {}}}}]` +
				`[user:u][assistant:<c1|add|{"b":1}><c2|add|{>][tool:3<c1|add>][tool:Error: bad<c2|add>][assistant:`,
			messages: []engine.Message{say("user", "u"), callMessage("", call("c1", `{"b":1}`), call("c2", "{")), resultMessage("c1", "add", "3"),
				{Role: "tool", Parts: []engine.Part{engine.ToolResult{CallID: "c2", Name: "add", IsError: true, Parts: []engine.Part{engine.Text{Text: "bad"}}}}}}},
		{name: "no tools wanted", source: calls, tools: []engine.Tool{add}, choice: engine.ToolNone, want: `[user:u][assistant:`,
			messages: []engine.Message{say("user", "u")}},
		{name: "calls with objects, one at a time", source: objectCalls, format: "hermes",
			want: `[user:u][assistant:<` + shortID("call_1") + `|add|b=1;a=2;>][tool:3<` + shortID("call_1") + `|add>]` +
				`[assistant:<abcABC123|add|arguments={;>][tool:4<abcABC123|add>][assistant:<` + shortID("c") + `|add|>][assistant:`,
			messages: []engine.Message{say("user", "u"), callMessage("", call("call_1", `{"b": 1, "a": 2}`), call("abcABC123", "{"), call("c", "")),
				resultMessage("abcABC123", "add", "4"), resultMessage("call_1", "add", "3")}},
		{name: "thinking", source: thinker, want: "[user:u][assistant:<think>hm</think>a][user:v][assistant:<think>", opening: "<think>",
			messages: []engine.Message{say("user", "u"), {Role: "assistant", Parts: []engine.Part{engine.ReasoningText{Text: "hm"}, engine.Text{Text: "a"}}}, say("user", "v")}},
		{name: "thinking sent back as text", source: thinker, want: "[user:u][assistant:<think>hm</think>a][user:v][assistant:<think>", opening: "<think>",
			messages: []engine.Message{say("user", "u"), say("assistant", "<think>\nhm\n</think>\n\na"), say("user", "v")}},
		{name: "thinking off", source: thinker, reasoning: off, want: "[user:u][assistant:<think></think>", opening: "<think></think>",
			messages: []engine.Message{say("user", "u")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl := mustTemplate(t, tt.source, Model{Format: tt.format})
			got, err := tpl.Render(t.Context(), &engine.Request{
				Messages: tt.messages, Tools: tt.tools, ToolChoice: engine.ToolChoice{Mode: tt.choice}, Reasoning: tt.reasoning,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
				t.Errorf("prompt: %s\n%+v", diff, tpl.Capabilities())
			}
			if got.Opening != tt.opening {
				t.Errorf("opening is %q, want %q", got.Opening, tt.opening)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	tpl := mustTemplate(t, strict, Model{})
	got, err := tpl.Render(t.Context(), &engine.Request{
		Tools: []engine.Tool{
			{Name: "add", Description: `Adds "numbers" <fast>.`, Parameters: []byte("{\"type\": \"object\",\n  \"properties\": {\"b\": {}, \"a\": {}}}")},
			{Name: "now"},
		},
		Messages: []engine.Message{
			say("system", "Be brief."), say("user", "1+2?"),
			callMessage("Let me see.", engine.ToolCall{ID: "1", Name: "add", Arguments: `{"b": 2}`}, engine.ToolCall{ID: "2", Name: "now"}),
			resultMessage("1", "add", "3"), resultMessage("2", "now", "noon"), say("user", "And?"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "[user:Be brief.\n\n" + toolsIntro +
		`{"name": "add", "description": "Adds \"numbers\" <fast>.", "parameters": {"type": "object","properties": {"b": {}, "a": {}}}}` + "\n" +
		`{"name": "now", "parameters": {"type": "object", "properties": {}}}` + "\n" + toolsUsage + fallbackExample + toolsOften + "\n\n1+2?]" +
		"[assistant:Let me see.\n<tool_call>\n{\"name\": \"add\", \"arguments\": {\"b\": 2}}\n</tool_call>\n" +
		"<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>]" +
		"[user:<tool_response>\n3\n</tool_response>\n\n<tool_response>\nnoon\n</tool_response>\n\nAnd?][assistant:"
	if diff := cmp.Diff(want, prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
		t.Error(diff)
	}
	if got := tpl.Format(); got != fallbackFormat {
		t.Errorf("format is %q, want %q", got, fallbackFormat)
	}
}

func TestRenderErrors(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		req          *engine.Request
		code         engine.Code
		message      string
		field        engine.Field
	}{
		{"refused", anyTurn + `{% if 'bad' in messages[0].content %}{{ raise_exception('No ' ~ messages[0].content ~ '\n  here.') }}{% endif %}`,
			&engine.Request{Messages: []engine.Message{say("user", "bad<s>")}},
			engine.CodeInvalidArgument, "The model's chat template refuses these messages: No bad<s> here.", engine.FieldMessages},
		{"refused at length", anyTurn + `{% if messages[0].content == 'bad' %}{{ raise_exception('é' * 1000) }}{% endif %}`,
			&engine.Request{Messages: []engine.Message{say("user", "bad")}},
			engine.CodeInvalidArgument, "The model's chat template refuses these messages: " + strings.Repeat("é", 150) + "…", engine.FieldMessages},
		{"failed", anyTurn + `{% if messages[0].content == 'bad' %}{{ nothing() }}{% endif %}`,
			&engine.Request{Messages: []engine.Message{say("user", "bad")}},
			engine.CodeInternal, "The model's chat template failed.", ""},
		{"cannot continue", strings.Replace(anyTurn, "m.content", "(m.content if m.role == 'user' else 'x')", 1),
			&engine.Request{Messages: []engine.Message{say("user", "a"), say("assistant", "b")}},
			engine.CodeInvalidArgument, "This model cannot continue an assistant message that is already begun.", engine.FieldMessages},
		{"bad schema", builtinTemplate("hermes"), &engine.Request{Messages: []engine.Message{say("user", "a")}, Tools: []engine.Tool{{Name: "a", Parameters: []byte("{")}}},
			engine.CodeInvalidArgument, "The parameters of the tool are not valid JSON.", engine.FieldTools},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := mustTemplate(t, tt.source, Model{Control: []string{"<s>"}}).Render(t.Context(), tt.req)
			e := (*engine.Error)(nil)
			if !errors.As(err, &e) || e.Code != tt.code || e.Message != tt.message || e.Place.Field != tt.field {
				t.Errorf("error is %v, want %s: %s, at %q", err, tt.code, tt.message, tt.field)
			}
		})
	}
}
