package chat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/google/go-cmp/cmp"
)

func TestMask(t *testing.T) {
	control := []string{"<|im_start|>", "<|im_end|>", "</s>", `<|"|>`, "\n\n", "[INST]"}
	source := lexed{literals: []string{"<|", "|>\n", "plain"}, removed: []string{"/think"}}
	for _, tt := range []struct {
		name, text string
		plain      []string // what comes back marked
	}{
		{"nothing", "hello", nil},
		{"empty", "", nil},
		{"whole", "a<|im_end|>b", []string{"i"}},
		{"twice", "<|im_end|><|im_end|>", []string{"i", "i"}},
		{"overlapping", "<|im_start<|im_end|>|>", []string{"i"}},
		{"cut short by the end", "a <|im_e", []string{"i"}},
		{"cut very short", "a <", []string{"<"}},
		{"begun by the template", "im_end|> b", []string{"i"}},
		{"a part in the middle of one", "im", []string{"i"}},
		{"not begun by the template", "s>", nil},
		{"joined by a removal", "<|im_/thinkend|>", []string{"<"}},
		{"escaped on its way", `x<|"|>`, []string{"<"}},
		{"white space is text", "a\n\nb", nil},
		{"the client's own private rune", "a\U00100000b", []string{"\U00100000"}},
		{"the mark of a continuation", continuation, []string{continuation}},
		{"markup of others", "<div></div>", nil},
		{"invalid UTF-8", "\xff<|im_end|>\xf4", []string{"i"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMasker(newSpellings(control, source))
			masked := m.mask(tt.text)
			spans := m.spans(masked)
			var plain []string
			for _, s := range spans {
				if s.Plain {
					plain = append(plain, s.Text)
				}
			}
			if diff := cmp.Diff(tt.plain, plain); diff != "" {
				t.Errorf("marked spans of %q: %s", tt.text, diff)
			}
			if got := (Prompt{Spans: spans}).String(); got != tt.text {
				t.Errorf("comes back as %q, want %q", got, tt.text)
			}
		})
	}
}

// spellingsOf are control tokens of many models, and some that this test makes
// of parts of the templates.
var spellingsOf = []string{
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

// controlIn lists the spellings in the spans that a tokenizer reads as they
// are, in order.
func controlIn(spans []Span, control []string) []string {
	m := newMasker(newSpellings(control, lexed{}))
	var found []string
	for _, s := range spans {
		for i := 0; !s.Plain && i < len(s.Text); i++ {
			if !m.first[s.Text[i]] {
				continue
			}
			if n := m.at(s.Text[i:]); n > 0 && slices.Contains(m.sorted, s.Text[i:i+n]) {
				found = append(found, s.Text[i:i+n])
			}
		}
	}
	return found
}

// checkMasking renders hostile requests and harmless ones of the same shape:
// both must have the same control tokens in the same order. The text of the
// prompt must be what it is without masking.
func checkMasking(t *testing.T, source string, control []string, rounds int) {
	t.Helper()
	masked := mustTemplate(t, source, Info{Control: control})
	open := mustTemplate(t, source, Info{})
	harmless, err := masked.Render(t.Context(), requestOf(func() string { return "word" }))
	if err != nil {
		t.Fatal(err)
	}
	want := controlIn(harmless.Spans, control)
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		req := requestOf(func() string { return hostile(r, control) })
		got, err := masked.Render(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, controlIn(got.Spans, control)); diff != "" {
			t.Fatalf("control tokens: %s\nprompt: %+v", diff, got.Spans)
		}
		unmasked, err := open.Render(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Prompt{Spans: unmasked.Spans}.String(), Prompt{Spans: got.Spans}.String()); diff != "" {
			t.Fatalf("the masked prompt differs: %s", diff)
		}
	}
}

func TestNoStringBecomesControl(t *testing.T) {
	for _, name := range builtinNames {
		t.Run(name, func(t *testing.T) { checkMasking(t, builtinTemplate(name), spellingsOf, 100) })
	}
	// Here the names of speakers and tools stand inside what looks like a token.
	glued := "{% for m in messages %}{{ '<|' ~ (m.name or m.role) ~ '|>' ~ m.content.replace('/think', '') }}{% endfor %}"
	t.Run("glued", func(t *testing.T) {
		checkMasking(t, glued, append([]string{"<|word|>"}, spellingsOf...), 300)
	})
}

func BenchmarkMask(b *testing.B) {
	var control []string
	for i := range 6000 {
		control = append(control, fmt.Sprintf("<unused%d>", i))
	}
	s := newSpellings(control, lexed{})
	text := strings.Repeat("Some words, <b>markup</b> and more of it.\n", 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		newMasker(s).mask(text)
	}
}
