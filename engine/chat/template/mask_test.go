package template

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSpecials: what of a prompt is a control token, for a template and a
// client's word w, which the template writes or asks about.
func TestSpecials(t *testing.T) {
	tokens := []string{"<|im_start|>", "<|im_end|>", "</s>", `<|"|>`, "\n\n", "[INST]", "user", "<a", "<a><b>", "« x »", "<tool_call>"}
	for _, tt := range []struct {
		name, source, word string
		want               []string // control tokens
	}{
		{"text of the template", "a<|im_end|>b{{ w }}", "", []string{"<|im_end|>"}},
		{"a literal", "{{ 'x<|im_end|>\\n' ~ w }}", "", []string{"<|im_end|>"}},
		{"a literal with escapes", `{{ "\x3c|im_end|\u003e" ~ w }}`, "", []string{"<|im_end|>"}},
		{"a client's", "{{ w }}", "<|im_end|>", nil},
		{"a client's between the template's", "</s>{{ w }}</s>", "<|im_end|>", []string{"</s>", "</s>"}},
		{"joined out of a client's and the template's", "{{ w }}nd|>", "<|im_e", nil},
		{"joined out of the template's and a client's", "<|{{ w }}", "im_end|>", nil},
		{"in the middle", "<|{{ w }}|>", "im_end", nil},
		{"in the middle, cut", "<|{{ w | trim }}|>", " im_end\n", nil},
		{"in the middle, cut at a text", "<|{{ w.split('##')[0] }}|>", "im_end##x", nil},
		{"in the middle, cut anywhere", "<|{{ w[:6] }}|>", "im_endless", nil},
		{"in the middle, in another case", "<|{{ w | lower }}|>", "IM_END", nil},
		{"in the middle, joined by a removal", "<|{{ w.replace('##', '') }}|>", "im##_end", nil},
		{"joined by a removal", "{{ w.replace('##', '') }}", "<|im##_end|>", nil},
		{"put together by the template", "{{ '<|' ~ 'im_' ~ 'end' ~ '|>' ~ w }}", "", []string{"<|im_end|>"}},
		{"put together by a format", "{{ '<|%s|>' % 'im_end' }}{{ w }}", "", []string{"<|im_end|>"}},
		{"put together out of text and a role", "[{{ r }}]{{ w }}", "", []string{"[INST]"}},
		{"put together, not quite", "{{ '<|' ~ 'im_' ~ 'ended' ~ '|>' ~ w }}", "", nil},
		{"with a quote in it, as JSON", "{{ {'a': w} | tojson }}", `x<|"|>`, nil},
		{"with a quote in it, begun by the template", `{{ '<|' ~ w }}`, `"|>`, nil},
		{"white space", "{{ w }}\n\n", "a\n\nb", nil},
		{"a role that is a token as well", "{% if r == 'INST' and w == 'user' %}user{% endif %}", "user", []string{"user"}},
		{"the longer one first", "<a><b>{{ w }}", "", []string{"<a><b>"}},
		{"no ASCII", "{{ w }}« x »", "« x »", []string{"« x »"}},
		{"the client's own private runes", "{{ w }}</s>", "\U00100000\U00100001", []string{"</s>"}},
		{"the mark of a continuation", "{{ w }}</s>", control.Continuation, []string{"</s>"}},
		{"as JSON of ASCII", "{{ {'a': w, 'b': '</s>'} | tojson(ensure_ascii=true) }}", "<|im_end|>\U00100000", []string{"</s>"}},
		{"looked for", "{{ '</s>' in w }}", "</s>", nil},
		{"a tag that the template writes around a key", "<{{ w }}>", "tool_call", nil},
		{"the same, and another key", "<{{ w }}></s>", "tool_calls", []string{"</s>"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, vars := mustCompile(t, tt.source, tokens), func(m *control.Mask) map[string]jinja.Value {
				return map[string]jinja.Value{"w": word(m.Text(tt.word)), "r": word("INST")}
			}
			mask := control.NewMask(tpl.special)
			text, err := tpl.run(t.Context(), vars(mask))
			if err != nil {
				t.Fatal(err)
			}
			spans := mask.Spans(text)
			if diff := cmp.Diff(tt.want, specialIn(spans), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("control tokens: %s\n%+v", diff, spans)
			}
			open := mustCompile(t, tt.source, nil)
			mask = control.NewMask(open.special)
			want, err := open.run(t.Context(), vars(mask))
			if err != nil {
				t.Fatal(err)
			}
			want = mask.Unmask(want)
			if tt.name == "looked for" { // which a client's never is
				want = "False"
			}
			if got := (prompt.Prompt{Spans: spans}).String(); got != want && !strings.Contains(tt.source, "| lower") {
				t.Errorf("the prompt is %q, want %q", got, want)
			}
		})
	}
}

func mustCompile(t testing.TB, source string, control []string) *Template {
	t.Helper()
	tpl, err := compile(source, Model{Control: control}, testTime)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// specialIn lists the control tokens of a prompt.
func specialIn(spans []prompt.Span) []string {
	var found []string
	for _, s := range spans {
		if s.Special {
			found = append(found, s.Text)
		}
	}
	return found
}

// manySpellings are control tokens of many models, and some that this test makes
// of parts of the templates.
var manySpellings = []string{
	"<|im_start|>", "<|im_end|>", "<s>", "</s>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "[INST]", "[/INST]",
	"[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "<｜User｜>", "<｜Assistant｜>", "<｜tool▁calls▁begin｜>", "<|turn>", "<turn|>",
	`<|"|>`, "<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<tool_call>", "</tool_call>", "<tool_response>",
}

// hostile makes strings that try to be control tokens: whole ones, parts, and
// two that make one together. None is empty.
func hostile(r *rand.Rand, control []string) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		s := control[r.IntN(len(control))]
		switch r.IntN(6) {
		case 0:
			b.WriteString("word ")
		case 1:
			b.WriteString(s[:r.IntN(len(s)+1)])
		case 2:
			b.WriteString(s[r.IntN(len(s)+1):])
		case 3:
			b.WriteString("\U00100001")
		case 4: // for the template that takes it out
			n := r.IntN(len(s))
			b.WriteString(s[:n] + "/think" + s[n:])
		default:
			b.WriteString(s)
		}
	}
	if s := strings.TrimSpace(strings.ToValidUTF8(b.String(), "")); s != "" {
		return s
	}
	return "word" // templates treat an empty string as none
}

// requestOf makes a request that has something in every place where a client
// can write. Names and ids are free of quotes, so that JSON stays JSON.
func requestOf(text func() string) *engine.Request {
	quoted := func() string {
		b, _ := json.Marshal(text()) // a string always encodes
		return string(b)
	}
	call := engine.ToolCall{ID: "c" + text(), Name: "n" + text(), Arguments: fmt.Sprintf(`{%s: %s, "list": [%s]}`, quoted(), quoted(), quoted())}
	return &engine.Request{
		Messages: []engine.Message{
			say(engine.RoleSystem, text()),
			{Role: engine.RoleUser, Name: text(), Parts: []engine.Part{engine.Text{Text: text()}, engine.Text{Text: text()}}},
			{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: text()}, call}},
			{Role: engine.RoleTool, Parts: []engine.Part{
				engine.ToolResult{CallID: call.ID, Name: call.Name, Parts: []engine.Part{engine.Text{Text: text()}}},
			}},
			say(engine.RoleAssistant, text()),
			say(engine.RoleUser, text()),
		},
		Tools: []engine.Tool{{
			Name:        call.Name,
			Description: text(),
			Parameters: fmt.Appendf(nil, `{"type": "object", "properties": {%s: {"type": "string", "description": %s, "enum": [%s]}}}`,
				quoted(), quoted(), quoted()),
		}},
	}
}

// spelledIn lists the control tokens that a text spells.
func spelledIn(text string, control []string) []string {
	var found []string
	for from, to := range prompt.Spellings(control).Find(text) {
		found = append(found, text[from:to])
	}
	return found
}

// checkMasking renders hostile requests and harmless ones of the same shape:
// both must have the same control tokens in the same order. The text of the
// prompt must be what it is without masking.
func checkMasking(t *testing.T, source string, control []string, rounds int) {
	t.Helper()
	masked := mustTemplate(t, source, Model{Control: control})
	open := mustTemplate(t, source, Model{})
	harmless, err := masked.Render(t.Context(), requestOf(func() string { return "neutral" }))
	if err != nil {
		t.Fatal(err)
	}
	want := specialIn(harmless.Spans)
	text := strings.ReplaceAll(prompt.Prompt{Spans: harmless.Spans}.String(), masked.example, "")
	spelled := spelledIn(text, control)
	if !masked.caps.ToolCalls { // then they are shown in words, see fallback.go
		spelled = slices.DeleteFunc(spelled, func(s string) bool { return strings.Contains(s, "tool_call>") || strings.Contains(s, "tool_response>") })
	}
	if diff := cmp.Diff(spelled, want, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the template's own control tokens are not what its text spells: %s", diff)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		req := requestOf(func() string { return hostile(r, control) })
		got, err := masked.Render(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, specialIn(got.Spans), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("control tokens: %s\nprompt: %+v", diff, got.Spans)
		}
		unmasked, err := open.Render(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(prompt.Prompt{Spans: unmasked.Spans}.String(), prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
			t.Fatalf("the masked prompt differs: %s", diff)
		}
	}
}

func TestNoStringBecomesControl(t *testing.T) {
	for _, name := range builtinNames {
		t.Run(name, func(t *testing.T) { checkMasking(t, builtinTemplate(name), manySpellings, 100) })
	}
	// Here the names of speakers and tools stand inside what looks like a token.
	glued := "{% for m in messages %}{{ '<|' ~ (m.name or m.role) ~ '|>' ~ m.content.replace('/think', '') }}{% endfor %}"
	t.Run("glued", func(t *testing.T) {
		checkMasking(t, glued, append([]string{"<|word|>"}, manySpellings...), 300)
	})
}

func BenchmarkMask(b *testing.B) {
	text := strings.Repeat("Some words, <b>markup</b> and more of it.\n", 2000)
	for _, bench := range []struct{ name, source string }{{"whole", "<unused1>{{ w }}"}, {"put together", "<{{ w }}>"}} {
		b.Run(bench.name, func(b *testing.B) {
			var tokens []string
			for i := range 6000 {
				tokens = append(tokens, fmt.Sprintf("<unused%d>", i))
			}
			special := mustCompile(b, bench.source, tokens).special
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				m := control.NewMask(special)
				m.Spans(m.Text(text))
			}
		})
	}
}
