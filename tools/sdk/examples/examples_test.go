package main

import (
	"strings"
	"testing"
)

const page = "# T\n\n```bash\ncurl x\n```\n\n```python a\np\n```\n\n```text\nout\n```\n\n```json reply\n{}\n```\n\n```toml ~/.f\nk\n```\n\n## U\n\n```go\ng\n```\n\n```text\nb\n```\n\n```text reply\ns\n```\n"

func TestReadPage(t *testing.T) {
	all, err := readPage("openai/x.md", page)
	if err != nil || len(all) != 3 {
		t.Fatalf("%v %+v", err, all)
	}
	for i, want := range []example{
		{title: "T", language: "bash", line: 3, code: "curl x\n", reply: "{}\n"},
		{title: "T", language: "python", line: 7, needs: "a", code: "p\n", prints: "out\n"},
		{title: "U", language: "go", line: 25, code: "g\n", prints: "b\n"},
	} {
		got := all[i]
		if got.title != want.title || got.language != want.language || got.line != want.line || got.needs != want.needs ||
			got.code != want.code || got.prints != want.prints || got.reply != want.reply || !got.recorded || got.files[".f"] != "k\n" {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
}

func TestReadPageRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"code without a word on what it does": "```go\ng\n```\n",
		"a language that is not run":          "```ruby\nr\n```\n",
	} {
		if all, err := readPage("openai/x.md", text); err == nil {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

func TestSameReply(t *testing.T) {
	for _, tt := range []struct{ name, got, want, problem string }{
		{"ids and times", `{"id":"msg_ABC","created":5}`, `{"id":"msg_1","created":0}`, ""},
		{"another kind of id", `{"id":"resp_ABC"}`, `{"id":"msg_1"}`, ".id"},
		{"a value", `{"a":[1,2]}`, `{"a":[1,3]}`, ".a[1]"},
		{"a further field", `{"a":1,"b":2}`, `{"a":1}`, "page shows"},
		{"a field less", `{}`, `{"a":1}`, "page shows"},
		{"another type", `{"a":"1"}`, `{"a":1}`, ".a"},
		{"a stream", "event: a\ndata: {\"id\":\"msg_X\"}\n\ndata: [DONE]\n\n", "event: a\ndata: {\"id\":\"msg_1\"}\n\ndata: [DONE]\n\n", ""},
		{"another event", "event: b\ndata: {}\n", "event: a\ndata: {}\n", "line 1"},
		{"a stream cut short", "event: a\n", "event: a\ndata: {}\n", "1 lines"},
		{"no JSON", `x`, `{}`, "x"},
	} {
		err := sameReply(tt.got, tt.want)
		if (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.problem)
		}
	}
}
