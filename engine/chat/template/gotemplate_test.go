package template

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"
	ollama "github.com/ollama/ollama/template"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

// libraryTemplates are the Go templates that come with the library, by name.
func libraryTemplates(t *testing.T) map[string]string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/ollama/ollama").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "template", "*.gotmpl"))
	if err != nil || len(files) < 10 {
		t.Fatalf("the library has %d templates, error %v", len(files), err)
	}
	all := map[string]string{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".gotmpl")] = string(source)
	}
	return all
}

// TestAsTheLibrary renders plain conversations with the library's templates,
// and wants what the library makes of them.
func TestAsTheLibrary(t *testing.T) {
	system, first := say(engine.RoleSystem, "Be brief & kind."), say(engine.RoleUser, "Hello, <b>friend</b>!")
	answer, second := say(engine.RoleAssistant, "Hi."), say(engine.RoleUser, "How are you?")
	conversations := map[string][]engine.Message{
		"user":                       {first},
		"system-user":                {system, first},
		"user-assistant-user":        {first, answer, second},
		"system-user-assistant-user": {system, first, answer, second},
		"two users":                  {first, second},
	}
	for name, source := range libraryTemplates(t) {
		tpl := mustTemplate(t, source, Model{})
		if tpl.golang == nil {
			t.Errorf("%s is not recognised as a Go template", name)
			continue
		}
		oracle, err := ollama.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		for title, messages := range conversations {
			var want strings.Builder
			values := ollama.Values{}
			for _, m := range messages {
				values.Messages = append(values.Messages, api.Message{Role: string(m.Role), Content: joinText(m.Parts)})
			}
			if err := oracle.Execute(&want, values); err != nil {
				t.Fatal(err)
			}
			got, err := tpl.Render(t.Context(), &engine.Request{Messages: messages})
			if err != nil {
				t.Errorf("%s, %s: %v", name, title, err)
				continue
			}
			if diff := cmp.Diff(want.String(), prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
				t.Errorf("%s, %s (-library +ours):\n%s", name, title, diff)
			}
		}
	}
}

// Go templates in the manner of those that models come with, shorter.
const (
	goHermes = `{{- if or .System .Tools }}<|im_start|>system
{{ .System }}
{{- if .Tools }}

Tools: <tools>
{{- range .Tools }}
{"type": "function", "function": {{ .Function }}}
{{- end }}
</tools>
{{- end }}<|im_end|>
{{ end }}
{{- range $i, $_ := .Messages }}
{{- $last := eq (len (slice $.Messages $i)) 1 -}}
{{- if eq .Role "user" }}<|im_start|>user
{{ .Content }}<|im_end|>
{{ else if eq .Role "assistant" }}<|im_start|>assistant
{{ if .Thinking }}<think>{{ .Thinking }}</think>
{{ end }}{{ .Content }}
{{- range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>
{{ end }}{{ if not $last }}<|im_end|>
{{ end }}
{{- else if eq .Role "tool" }}<|im_start|>user
<tool_response>
{{ .Content }}
</tool_response><|im_end|>
{{ end }}
{{- if and (ne .Role "assistant") $last }}<|im_start|>assistant
{{ if and $.IsThinkSet (not $.Think) }}<think>

</think>

{{ end }}{{ end }}
{{- end }}`

	goLlama3 = `<|start_header_id|>system<|end_header_id|>

{{ .System }}{{ if .Tools }}Tools:{{ range .Tools }} {{ json . }}{{ end }}
{{ end }}<|eot_id|>
{{- range $i, $_ := .Messages }}
{{- if eq .Role "user" }}<|start_header_id|>user<|end_header_id|>

{{ .Content }}<|eot_id|>
{{- else if eq .Role "assistant" }}<|start_header_id|>assistant<|end_header_id|>

{{ if .ToolCalls }}{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "parameters": {{ json .Function.Arguments }}}{{ end }}
{{- else }}{{ .Content }}{{ end }}<|eot_id|>
{{- else if eq .Role "tool" }}<|start_header_id|>ipython<|end_header_id|>

{{ .Content }}<|eot_id|>
{{- end }}
{{- end }}<|start_header_id|>assistant<|end_header_id|>

`

	goMistral = `{{- range $i, $_ := .Messages }}
{{- if eq .Role "user" }}{{ if and $.Tools (le $i 1) }}[AVAILABLE_TOOLS] {{ $.Tools }}[/AVAILABLE_TOOLS]{{ end }}[INST] {{ if and $.System (le $i 1) }}{{ $.System }}

{{ end }}{{ .Content }}[/INST]
{{- else if eq .Role "assistant" }}
{{- if .Content }} {{ .Content }}</s>{{ else if .ToolCalls }}[TOOL_CALLS] [
{{- range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}]</s>{{ end }}
{{- else if eq .Role "tool" }}[TOOL_RESULTS] {"content": {{ .Content }}}[/TOOL_RESULTS]{{ end }}
{{- end }}`

	goHarmony = `<|start|>system<|message|>{{ if and .IsThinkSet .Think (ne .ThinkLevel "") }}Reasoning: {{ .ThinkLevel }}{{ end }}<|end|>
{{- if or .System .Tools }}<|start|>developer<|message|>{{ .System }}
{{- range .Tools }}
// {{ .Function.Description }}
type {{ .Function.Name }} = (_: {
{{- range $name, $p := .Function.Parameters.Properties }} {{ $name }}: {{ index $p.Type 0 }},{{ end }} }) => any; // {{ .Function.Parameters }}
{{- end }}<|end|>{{ end }}
{{- $begun := false }}
{{- range $i, $m := .Messages }}
{{- $begun = and (eq .Role "assistant") (eq (len (slice $.Messages $i)) 1) (gt (len .Content) 0) }}
{{- if eq .Role "user" }}<|start|>user<|message|>{{ .Content }}<|end|>
{{- else if eq .Role "tool" }}<|start|>functions.{{ .ToolName }} to=assistant<|message|>{{ .Content }}<|end|>
{{- else if eq .Role "assistant" }}
{{- if .Thinking }}<|start|>assistant<|channel|>analysis<|message|>{{ .Thinking }}<|end|>{{ end }}
{{- if .Content }}<|start|>assistant<|channel|>final<|message|>{{ .Content }}{{ if not $begun }}<|end|>{{ end }}{{ end }}
{{- range .ToolCalls }}<|start|>assistant<|channel|>commentary to=functions.{{ .Function.Name }} <|constrain|>json<|message|>{{ .Function.Arguments }}<|call|>{{ end }}
{{- end }}
{{- end }}
{{- if not $begun }}<|start|>assistant{{ end }}`

	goPairs = `{{ if .System }}[S:{{ .System }}]{{ end }}{{ if .Prompt }}[U:{{ .Prompt }}]{{ end }}[A:{{ .Response }}]`
)

func TestGoTemplateFormats(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		format       string
		think        string
		opening      string // what follows the header of the answer when thinking is off
		output       string // a call as the history shows it
	}{
		{"hermes", goHermes, "hermes", "<think>…</think>", "<think>\n\n</think>\n\n",
			"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"days\": 2.0, \"city\": \"Köln <b>\"}}\n</tool_call>\n"},
		{"llama3", goLlama3, "llama3", "…", "", `{"name": "get_weather", "parameters": {"days": 2.0, "city": "Köln <b>"}}`},
		{"mistral", goMistral, "mistral", "…", "", `[TOOL_CALLS] [{"name": "get_weather", "arguments": {"days": 2.0, "city": "Köln <b>"}}]`},
		{"harmony", goHarmony, "harmony", "analysis<|message|>…<|end|>", "",
			`<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"days": 2.0, "city": "Köln <b>"}<|call|>`},
		{"pairs", goPairs, "hermes", "…", "", `<tool_call>` + "\n" + `{"name": "get_weather", "arguments": {"days": 2.0, "city": "Köln <b>"}}` + "\n</tool_call>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl := mustTemplate(t, tt.source, Model{})
			caps := tpl.Capabilities()
			if got := caps.Syntax.ReasoningStart + "…" + caps.Syntax.ReasoningEnd; tpl.Format() != tt.format || got != tt.think {
				t.Errorf("format %q, reasoning %q; want %q, %q\n%+v", tpl.Format(), got, tt.format, tt.think, caps)
			}
			req := &engine.Request{
				Messages: []engine.Message{
					say(engine.RoleSystem, "Be brief."), say(engine.RoleUser, "And?"),
					callMessage("", engine.ToolCall{ID: "c1", Name: "get_weather", Arguments: `{"days": 2.0, "city": "Köln <b>"}`}),
					resultMessage("c1", "get_weather", `"drizzle"`),
				},
				Tools:     []engine.Tool{{Name: "get_weather", Description: "Tells <it>.", Parameters: []byte(`{"type": "object", "properties": {"days": {"minimum": 1}, "city": {}}}`)}},
				Reasoning: engine.Reasoning{Mode: engine.ReasoningOff},
			}
			got, err := tpl.Render(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			prompt := prompt.Prompt{Spans: got.Spans}.String()
			for _, want := range []string{"Be brief.", "And?", tt.output, "drizzle", "Tells <it>.", "minimum"} {
				if strings.Count(prompt, want) != 1 {
					t.Errorf("%q is not once in the prompt:\n%s", want, prompt)
				}
			}
			if i, k := strings.LastIndex(prompt, `"days"`), strings.LastIndex(prompt, `"city"`); i > k {
				t.Errorf("the members of arguments are not in the client's order:\n%s", prompt)
			}
			if got.Opening != tt.opening {
				t.Errorf("opening %q, want %q", got.Opening, tt.opening)
			}
			written, ok := format.Recognize(tpl.Format(), &tpl.caps.Syntax, nil)
			if !ok {
				t.Fatalf("no format %q", tpl.Format())
			}
			tools, _, err := format.NewTools(t.Context(), req.Tools)
			if err != nil {
				t.Fatal(err)
			}
			read := format.NewParser(written, format.Options{Tools: tools, NewID: func() string { return "id" }})
			read.Read(engine.TokenLogprob{Token: []byte(tt.output)})
			read.Finish(engine.FinishEndOfTurn)
			want := []engine.Event{
				engine.BlockStart{Kind: engine.BlockToolCall, CallID: "id", Name: "get_weather"},
				engine.ToolCallDelta{Arguments: `{"days": 2.0, "city": "Köln <b>"}`},
				engine.BlockStop{},
				engine.Finish{Reason: engine.FinishToolCalls},
			}
			if diff := cmp.Diff(want, read.Events()); diff != "" {
				t.Errorf("reading the call back (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGoTemplateTexts renders what a Go template sees, in full.
func TestGoTemplateTexts(t *testing.T) {
	img := engine.Image{Data: []byte{1}}
	long := []engine.Message{say("system", "S"), say("user", "a"), say("user", "b"), say("assistant", "c"), say("system", "T"), say("user", "d")}
	fields := `{{ range .Messages }}[{{ .Role }}|{{ .Content }}|{{ .Thinking }}|{{ .ToolName }}|{{ .ToolCallID }}|{{ len .Images }}
{{- range .ToolCalls }}<{{ .ID }}|{{ .Function.Index }}|{{ .Function.Name }}{{ range $k, $v := .Function.Arguments }}|{{ $k }}={{ $v }}{{ end }}>{{ end }}]{{ end }}`
	tools := `{{ range .Tools }}{{ .Type }} {{ .Function.Name }} {{ .Function.Parameters.Type }} {{ .Function.Parameters.Required }}
{{- range $k, $v := .Function.Parameters.Properties }} {{ $k }}:{{ toTypeScriptType $v }}:{{ $v.Type }}:{{ $v.Enum }}{{ end }} {{ .Function.Parameters }} {{ json .Function }}{{ end }}{{ range .Messages }}{{ .Content }}{{ end }}`
	think := `{{ .IsThinkSet }} {{ .Think }} {{ if and .Think (eq .ThinkLevel "high") }}deep{{ end }} {{ range .Messages }}{{ .Content }}{{ end }}`
	called := callMessage("x", engine.ToolCall{ID: "i", Name: "n", Arguments: `{"b": 12345678901234567890, "a": {"z": 1.0}}`}, engine.ToolCall{ID: "k", Name: "m"})
	for _, tt := range []struct {
		name, source string
		request      engine.Request
		want         string
	}{
		{"pairs", goPairs, engine.Request{Messages: long}, "[S:S][U:a\n\nb][A:c][U:T\n\nd][A:"},
		{"pairs, no system text", goPairs, engine.Request{Messages: long[1:3]}, "[U:a\n\nb][A:"},
		{"pairs, assistant first", goPairs, engine.Request{Messages: long[3:4:4]}, "[A:c"},
		{"pairs, to be continued", goPairs, engine.Request{Messages: long[:4]}, "[S:S][U:a\n\nb][A:c"},
		{"pairs, with images", goPairs, engine.Request{Messages: []engine.Message{userParts(engine.Text{Text: "a"}, img, engine.Text{Text: "b"})}}, "[U:[image]a\nb][A:"},
		{"no place for the answer", "{{ .Prompt }}\n", engine.Request{Messages: long[1:]}, "a\n\nb\ncT\n\nd\n"},
		{"whole, to be continued", "{{ range .Messages }}[{{ .Role }}:{{ .Content }}]{{ end }}[assistant:", engine.Request{Messages: append(long[1:4:4], say("assistant", "e"))},
			"[user:a\n\nb][assistant:c\n\ne"},
		{"fields", fields, engine.Request{Messages: []engine.Message{
			userParts(engine.Text{Text: "u"}, img, img),
			{Role: "assistant", Parts: append([]engine.Part{engine.ReasoningText{Text: "r"}}, called.Parts...)},
			resultMessage("i", "n", "1"), resultMessage("k", "m", "2"),
		}}, "[user|[image][image]u||||2][assistant|x|r|||0<i|0|n|a={\"z\":1.0}|b=12345678901234567890>][tool|1||n|i|0][assistant|||||0<k|0|m>][tool|2||m|k|0]"},
		{"tools", tools, engine.Request{
			Messages: long[1:2],
			Tools: []engine.Tool{{Name: "n", Description: "d", Parameters: []byte(
				`{"type": "object", "required": ["b"], "properties": {"b": {"type": ["string", "null"], "enum": [1, "x"]}, "a": {"type": "array", "minItems": 1}, "c": true}}`)}},
		}, `function n object [b] a:any[]:array:[] b:string | null:[string null]:[1 x] c:any:any:[] ` +
			`{"type":"object","required":["b"],"properties":{"b":{"type":["string","null"],"enum":[1,"x"]},"a":{"type":"array","minItems":1},"c":true}} ` +
			`{"name":"n","description":"d","parameters":{"type":"object","required":["b"],"properties":{"b":{"type":["string","null"],"enum":[1,"x"]},"a":{"type":"array","minItems":1},"c":true}}}a`},
		{"thinking by default", think, engine.Request{Messages: long[1:2]}, "false false  a"},
		{"thinking on", think, engine.Request{Messages: long[1:2], Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}, "true true  a"},
		{"thinking off", think, engine.Request{Messages: long[1:2], Reasoning: engine.Reasoning{Mode: engine.ReasoningOff, Effort: "high"}}, "true false  a"},
		{"much thinking", think, engine.Request{Messages: long[1:2], Reasoning: engine.Reasoning{Effort: "high"}}, "true true deep a"},
		{"harmony, to be continued", goHarmony, engine.Request{Messages: long[1:4]},
			"<|start|>system<|message|><|end|><|start|>user<|message|>a\n\nb<|end|><|start|>assistant<|channel|>final<|message|>c"},
		{"no gap", "<P>{{ .Prompt }}<S>{{ .Suffix }}<M>", engine.Request{Messages: long[1:2]}, "<P>a<S><M>"},
		{"dates", "{{ currentDate }} {{ yesterdayDate }} {{ .Prompt }}", engine.Request{Messages: long[1:2]}, "2026-11-27 2026-11-26 a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl := mustTemplate(t, tt.source, Model{Format: "hermes"})
			got, err := tpl.Render(t.Context(), &tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestIsGoTemplate(t *testing.T) {
	for source, want := range map[string]bool{
		"{{ .Prompt }}":   true,
		"{{.Prompt}}":     true,
		"{{- .Prompt -}}": true,
		"{{ range $i, $m := .Messages }}x{{ end }}":                         true,
		"{{ if (not .System) }}x{{ end }}":                                  true,
		"{{ $.System }}":                                                    true,
		"{{ messages[0].content }}":                                         false,
		"{{ messages[0]['content'] }}":                                      false,
		"{{ .Prompt }} is set in {%PERCENT%}, and {%- 5 or 100{%":           true,
		"{{ bos_token }}{% for m in messages %}{{ m.Content }}{% endfor %}": false,
		"{# of .Messages #}{{ x }}":                                         false,
		"plain words":                                                       false,
	} {
		if got := isGoTemplate(source); got != want {
			t.Errorf("%s: %v, want %v", source, got, want)
		}
	}
	for _, name := range builtinNames {
		if isGoTemplate(builtinTemplate(name)) {
			t.Errorf("%s is Jinja", name)
		}
	}
}

func TestGoTemplatesMask(t *testing.T) {
	for name, source := range map[string]string{"hermes": goHermes, "llama3": goLlama3, "mistral": goMistral, "pairs": goPairs,
		"glued": "{{ range .Messages }}<|{{ .Role }}{{ .ToolName }}|>{{ .Content }}{{ end }}"} {
		t.Run(name, func(t *testing.T) {
			checkMasking(t, source, append([]string{"<|user|>", "<|word|>"}, manySpellings...), 100)
		})
	}
}

// TestBrokenGoTemplates: what cannot be used is an error when it is loaded.
func TestBrokenGoTemplates(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"not closed", "{{ if .Prompt }}x", "unexpected EOF"},
		{"no such function", "{{ shout .Prompt }}", `"shout" not defined`},
		{"no such template", `{{ .Prompt }}{{ template "x" }}`, "undefined template"},
		{"shows nothing", "{{ .System }}", errUserMissing.Error()},
		{"fails", "{{ .Prompt.Text }}", errUserMissing.Error()},
		{"deep", strings.Repeat("{{ if .Prompt }}", maxActions+1) + "{{ .Prompt }}" + strings.Repeat("{{ end }}", maxActions+1), "deep inside each other"},
		{"deep alternatives", "{{ if .Prompt }}" + strings.Repeat("{{- else if .Prompt }}", maxActions) + "{{ .Prompt }}{{ end }}", "deep inside each other"},
		{"too long", "{{ .Prompt }}" + strings.Repeat(" ", maxTemplate), "more than"},
		{"endless recursion", `{{ define "x" }}{{ template "x" . }}{{ end }}{{ .Prompt }}{{ template "x" . }}`, errUserMissing.Error()},
	} {
		_, err := New(tt.source, Model{}, testTime)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

// TestGoTemplateLimits renders without end, with and without output.
func TestGoTemplateLimits(t *testing.T) {
	slow, long := bounds.ErrTimeout.Error(), "more than"
	for _, tt := range []struct{ name, source, want string }{
		{"loops", "{{ range 1000000000 }}{{ range 1000000000 }}{{ end }}{{ end }}{{ .Prompt }}", slow},
		{"loops with output", "{{ range 1000000000 }}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" +
			strings.Repeat("x", 100_000) + "{{ end }}{{ .Prompt }}", long},
		{"a tree of templates", `{{ define "x" }}{{ if . }}{{ template "x" (slice . 1) }}{{ template "x" (slice . 1) }}{{ end }}{{ end }}` +
			`{{ .Prompt }}{{ template "x" "` + strings.Repeat("x", 200) + `" }}`, slow},
		{"a text that doubles", `{{ $x := "x" }}{{ range 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}{{ .Prompt }}`, bounds.ErrMemory.Error()},
		{"JSON of JSON", `{{ $x := "\"" }}{{ range 60 }}{{ $x = json $x }}{{ end }}{{ .Prompt }}`, bounds.ErrMemory.Error()},
		{"escapes of escapes", `{{ $x := "&" }}{{ range 60 }}{{ $x = html (print $x $x) }}{{ end }}{{ .Prompt }}`, bounds.ErrMemory.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := compile(tt.source, Model{}, testTime)
			if err != nil {
				t.Fatal(err)
			}
			tpl.bounds.Time = time.Hour // a busy machine may take long to reach the other limit
			if tt.want == slow {
				tpl.bounds.Time = 20 * time.Millisecond
			}
			_, err = tpl.text(t.Context(), conversation{turns: []turn{user("u")}}, control.NewMask(tpl.special))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestGoTemplateGap(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		want         prompt.FIM
	}{
		{"none", "{{ .Prompt }}", prompt.FIM{}},
		{"code", "{{ if .Suffix }}<PRE> {{ .Prompt }} <SUF>{{ .Suffix }} <MID>{{ else }}{{ .Prompt }}{{ end }}",
			prompt.FIM{Prefix: "<PRE> ", Suffix: " <SUF>", Middle: " <MID>"}},
		{"beside messages", "{{ if .Suffix }}<|p|>{{ .Prompt }}<|s|>{{ .Suffix }}<|m|>{{ else }}{{ range .Messages }}{{ .Content }}{{ end }}{{ end }}",
			prompt.FIM{Prefix: "<|p|>", Suffix: "<|s|>", Middle: "<|m|>"}},
		{"the other way round", "{{ if .Suffix }}[S]{{ .Suffix }}[P] {{ end }}{{ .Prompt }}", prompt.FIM{Suffix: "[S]", Prefix: "[P] ", SuffixFirst: true}},
	} {
		if got := mustTemplate(t, tt.source, Model{}).FIM(); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// goLast looks at how far a message is from the end, and shows a turn's text
// or its calls.
const goLast = `{{- range $i, $_ := .Messages }}{{ $last := eq (len (slice $.Messages $i)) 1 }}
{{- if eq .Role "user" }}{{ if and $last $.Tools }}[AVAILABLE_TOOLS]{{ json $.Tools }}[/AVAILABLE_TOOLS]{{ end }}[INST]
{{- if and $last $.System }}{{ $.System }}{{ "\n\n" }}{{ end }}{{ .Content }}[/INST]
{{- else if eq .Role "assistant" }}{{ if .Content }}{{ .Content }}</s>{{ else if .ToolCalls }}[TOOL_CALLS][
{{- range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}]</s>{{ end }}
{{- else if eq .Role "tool" }}[TOOL_RESULTS]{{ .Content }}[/TOOL_RESULTS]{{ end }}{{ end }}`

// TestGoTemplateLosesNothing renders what a template would leave out.
func TestGoTemplateLosesNothing(t *testing.T) {
	tool := engine.Tool{Name: "n", Parameters: []byte(`{"type":"object"}`)}
	call, other := engine.ToolCall{ID: "i", Name: "n", Arguments: "{}"}, engine.ToolCall{ID: "k", Name: "n", Arguments: `{"a": 1}`}
	asked := []engine.Message{say("system", "S"), say("user", "u")}
	both := append(asked[:2:2], callMessage("x", call, other), resultMessage("i", "n", "1"), resultMessage("k", "n", "2"))
	oneMark := strings.NewReplacer("[TOOL_CALLS][", "<tool_call>", "]</s>", "</tool_call>", "[AVAILABLE_TOOLS]", "", "[/AVAILABLE_TOOLS]", "").Replace(goLast)
	told := strings.TrimSpace(listTools([]engine.Tool{tool}))
	for _, tt := range []struct {
		name, source string
		messages     []engine.Message
		want         string
	}{
		{"a question", goLast, asked, `[AVAILABLE_TOOLS][{"type":"function","function":{"name":"n","description":"","parameters":{"type":"object"}}}][/AVAILABLE_TOOLS]` +
			"[INST]S\n\nu[/INST]"},
		{"results", goLast, both, "[INST]S\n\n" + told + "\n\nu[/INST]x</s>" +
			`[TOOL_CALLS][{"name": "n", "arguments": {}}{"name": "n", "arguments": {"a": 1}}]</s>[TOOL_RESULTS]1[/TOOL_RESULTS][TOOL_RESULTS]2[/TOOL_RESULTS]`},
		{"calls that nobody could tell apart", oneMark, both, "[INST]S\n\n" + told + "\n\nu[/INST]x</s>" +
			`<tool_call>{"name": "n", "arguments": {}}</tool_call>[TOOL_RESULTS]1[/TOOL_RESULTS]` +
			`<tool_call>{"name": "n", "arguments": {"a": 1}}</tool_call>[TOOL_RESULTS]2[/TOOL_RESULTS]`},
	} {
		got, err := mustTemplate(t, tt.source, Model{}).Render(t.Context(), &engine.Request{Messages: tt.messages, Tools: []engine.Tool{tool}})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestGoTemplateOpening: what the prompt holds of the answer already is told
// to whoever reads the rest.
func TestGoTemplateOpening(t *testing.T) {
	const thinks = `{{ range .Messages }}<{{ .Role }}>{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}{{ end }}<assistant><think>{{ "\n" }}`
	asked := []engine.Message{say("user", "u")}
	for _, tt := range []struct {
		name, source string
		messages     []engine.Message
		want         string
	}{
		{"thinking", thinks, asked, "<think>\n"},
		{"an answer in a channel", goHarmony, append(asked[:1:1], say("assistant", "a")), "<|channel|>final<|message|>"},
		{"no answer yet", goHarmony, asked, ""},
	} {
		got, err := mustTemplate(t, tt.source, Model{}).Render(t.Context(), &engine.Request{Messages: tt.messages})
		if err != nil || got.Opening != tt.want {
			t.Errorf("%s: opening %q, error %v; want %q", tt.name, got.Opening, err, tt.want)
		}
	}
}
