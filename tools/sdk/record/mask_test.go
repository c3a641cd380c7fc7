package record

import "testing"

func TestMask(t *testing.T) {
	m := newMask([]byte("replies:\n  - when: {contains: greeting.txt is there}\n  - when: {contains: \"42 is\"}\n    pieces: [one]\n"))
	for _, tt := range []struct{ name, in, want string }{
		{"a sentence", `{"text":"You are a robot of 2026, dear"}`, `{"text":"xxx xxx x xxxxx xx 0000, xxxx"}`},
		{"words of the script stay", `["The file greeting.txt is new, 42"]`, `["xxx xxxx greeting.txt is xxx, 42"]`},
		{"names and short values stay", `{"type":"text","model":"a b c d"}`, `{"type":"text","model":"a b c d"}`},
		{"a key stays", `{"one two three four five" : 1}`, `{"one two three four five" : 1}`},
		{"escapes stay", `["a\nb\tc \"d\" \u00fcber e"]`, `["x\nx\tx \"x\" \u00fcxxx x"]`},
		{"JSON in a string stays", `["{\"a\": \"b c d\", \"e\": 1}"]`, `["{\"a\": \"b c d\", \"e\": 1}"]`},
		{"ids go", `["{\"id\":\"01a220a6-cf83-7f21-9832-c470984600d9\"}",1795844132796]`, `["{\"id\":\"00000000-0000-0000-0000-000000000000\"}",0000000000000]`},
		{"names made up by chance are all one", `"it is in a folder k3Zq9A"`, `"xx is xx x xxxxxx xxxxxx"`},
		{"ids with a prefix go", `"msg_01a220a6-cf83-7f21-9832-c470984600d9"`, `"msg_00000000-0000-0000-0000-000000000000"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.request(tt.in); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	said := `event: a
data: {"text":"Only the model says all this","tools":["You are a robot of 2026, dear"]}
`
	want := `event: a
data: {"text":"Only the model says all this","tools":["xxx xxx x xxxxx xx 0000, xxxx"]}
`
	if got := m.reply(said); got != want {
		t.Errorf("a reply that says a sentence again becomes %s, want %s", got, want)
	}
	if got := agent("codex_exec/0.1 (Debian 12; x86_64) unknown"); got != "codex_exec/0.1" {
		t.Errorf("the program is %q", got)
	}
}
