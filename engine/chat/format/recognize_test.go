package format

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestFormatOfSyntax reads calls in syntaxes that no format of ours knows, by
// what a template shows of them.
func TestFormatOfSyntax(t *testing.T) {
	weather, now := call("get_weather", `{"city": "Paris"}`), call("now", "{}")
	tests := []struct {
		name   string
		syntax Syntax
		output string
		want   []engine.Block
	}{
		{"tagged", Syntax{Kind: SyntaxTagged, ReasoningStart: "<seed:think>", ReasoningEnd: "</seed:think>",
			CallStart: "<seed:tool_call>\n<function=", NameEnd: ">\n", ArgumentStart: "<parameter=", KeyEnd: ">",
			ArgumentEnd: "</parameter>\n", CallEnd: "</function>\n</seed:tool_call>", Separator: "\n"},
			"<seed:think>Hm.</seed:think><seed:tool_call>\n<function=get_weather>\n<parameter=city>Paris</parameter>\n</function>\n</seed:tool_call>\n<seed:tool_call>\n<function=now>\n</function>\n</seed:tool_call>",
			[]engine.Block{reasoning("Hm."), weather, now}},
		{"array", Syntax{Kind: SyntaxJSON, SectionStart: "<tool_calls>", SectionEnd: "</tool_calls>", Array: true, Separator: ", ",
			NameField: "name", ArgumentsField: "arguments", IDField: "id"},
			`<tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "1"}, {"name": "now", "arguments": {}}]</tool_calls>`,
			[]engine.Block{weather, now}},
		{"lines", Syntax{Kind: SyntaxJSON, SectionStart: "<tool_calls>\n", SectionEnd: "</tool_calls>", CallEnd: "\n",
			NameField: "name", ArgumentsField: "arguments"},
			"<tool_calls>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n{\"name\": \"now\", \"arguments\": {}}\n</tool_calls>",
			[]engine.Block{weather, now}},
		{"id first", Syntax{Kind: SyntaxNamed, SectionStart: "<|tool_calls|>", SectionEnd: "<|calls|>",
			CallStart: "<|tool_call:begin|>{id}<|tool_call:name|>", NameEnd: "<|tool_call:args|>", CallEnd: "<|tool_call:end|>"},
			"<|tool_calls|><|tool_call:begin|>x1<|tool_call:name|>now<|tool_call:args|>{}<|tool_call:end|><|calls|>",
			[]engine.Block{callID("x1", "now", "{}")}},
		{"id behind the name", Syntax{Kind: SyntaxNamed, CallStart: "<call>", NameEnd: "<id>{id}<args>", CallEnd: "</call>"},
			"<call>now<id>x1<args>{}</call><call>get_weather<id>x2<args>{\"city\": \"Paris\"}</call>",
			[]engine.Block{callID("x1", "now", "{}"), callID("x2", "get_weather", `{"city": "Paris"}`)}},
		{"name is the key", Syntax{Kind: SyntaxJSON, CallStart: "<call>", CallEnd: "</call>"},
			`<call>{"now": {}}</call>`, []engine.Block{now}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			format := test.syntax.format(nil)
			for i := range len(test.output) {
				got := scan(t, format, testTools(t), "", test.output[:i], test.output[i:])
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Fatalf("cut at %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestMarkersOfSyntax(t *testing.T) {
	s := Syntax{Kind: SyntaxJSON, ReasoningStart: "<t>", ReasoningEnd: "</t>", CallStart: "<call>\n", CallEnd: "\n</call>", NameField: "n", ArgumentsField: "a"}
	got := s.format([]string{"<eos>", "<call>", "</t>", ""}).Markers
	if !slices.Equal(got, []string{"<call>", "</t>"}) {
		t.Errorf("markers %q", got)
	}
}
