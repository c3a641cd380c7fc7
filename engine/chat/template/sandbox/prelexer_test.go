package sandbox

import (
	"os"
	"testing"

	"github.com/ardanlabs/jinja"
)

func TestWhitespace(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"text", "a\nb", "a\nb"},
		{"final line end", "a\n", "a"},
		{"two final line ends", "a\n\n", "a\n"},
		{"CRLF", "a\r\nb\rc", "a\nb\nc"},
		{"space before a neighboring tag", "Effort: {{ x }}{%- if x %}!{% endif %}", "Effort: 1!"},
		{"space between outputs", "A: {{ x }} {{- x }}", "A: 11"},
		{"output keeps its line end", "{{ x }}\nb", "1\nb"},
		{"statement eats its line end", "{% if x %}\nb{% endif %}\nc", "bc"},
		{"only one line end", "{% if x %}\n\nb{% endif %}", "\nb"},
		{"plus keeps the line end", "{% if x +%}\nb{% endif %}", "\nb"},
		{"indented statement", "a\n  {% if x %}b{% endif %}", "a\nb"},
		{"indented first statement", "  {% if x %}b{% endif %}", "b"},
		{"indented behind an eaten line end", "{% if x %}\n  {% if x %}b{% endif %}{% endif %}", "b"},
		{"plus keeps the indent", "a\n  {%+ if x %}b{% endif %}", "a\n  b"},
		{"not indented", "a  {% if x %}b{% endif %}", "a  b"},
		{"space between two tags", "{{ x }} {% if x %}b{% endif %}", "1 b"},
		{"indented output stays", "a\n  {{ x }}", "a\n  1"},
		{"minus", "a \n {%- if x -%} \n b {%- endif %}", "ab"},
		{"minus on outputs", "a \n {{- x -}} \n b", "a1b"},
		{"comment", "a{# {{ nothing }} #}\nb", "ab"},
		{"comment with quotes", "a{# it's #}b", "ab"},
		{"comment with minus", "a {#- x -#} b", "ab"},
		{"raw", "{% raw %}{{ x }}{% y %}{% endraw %}", "{{ x }}{% y %}"},
		{"raw with minus", "a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"},
		{"braces in strings", "{{ '}}' }}{{ \"%}\" }}", "}}%}"},
		{"braces in a dict", "{{ {'a': {'b': 2}}['a']['b'] }}", "2"},
		{"quotes and escapes", `it's a "\n" \`, `it's a "\n" \`},
		{"lone brace", "{ {x} }", "{ {x} }"},
		{"generation", "{% generation %}a{% endgeneration %}", "a"},
		{"loop and macro", "{% macro m(a) %}<{{ a }}>{% endmacro %}{% for i in [1, 2] %}{{ m(i) }}{% endfor %}", "<1><2>"},
		{"break", "{% for i in [1, 2] %}{{ i }}{% break %}{% endfor %}", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := compile(tt.source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tpl.run(t.Context(), map[string]jinja.Value{"x": jinja.NewInt(1)})
			if err != nil || got != tt.want {
				t.Errorf("%q renders %q, %v; want %q", tt.source, got, err, tt.want)
			}
		})
	}
}

func FuzzPrelex(f *testing.F) {
	for _, name := range []string{"plain", "hermes", "llama3", "mistral", "deepseek", "gemma", "harmony"} {
		source, err := os.ReadFile("../builtin/" + name + ".jinja")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(source))
	}
	for _, s := range []string{"{{", "{%-%}", "{#-#}", "{{-}}", "{{'", "{% raw %}{%endraw", "{%-", "{{--}}"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, source string) {
		compile(source, "<|im_start|>", "<|im_end|>", "</s>", "[INST]", "[TOOL_CALLS]", "<｜User｜>", "<turn|>", "<|start|>", "<tool_call>") // must not panic; what it says does not matter
	})
}
