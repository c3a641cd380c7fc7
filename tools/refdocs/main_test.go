package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

func TestRender(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	again, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if string(again[name]) != string(text) {
			t.Errorf("%s differs from one run to the next", name)
		}
		if !regexp.MustCompile(`^<!-- Code generated .* DO NOT EDIT\. -->`).Match(text) {
			t.Errorf("%s does not say that it is generated", name)
		}
		checkTables(t, name, string(text))
	}
}

// checkTables checks that every row has as many cells as its heading.
func checkTables(t *testing.T, name, text string) {
	columns, tables := 0, 0
	for number, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns == 0 {
			columns, tables = cells, tables+1
		}
		if cells != columns {
			t.Errorf("%s:%d: %d cells, want %d: %s", name, number+1, cells-1, columns-1, line)
		}
	}
	if tables < 3 {
		t.Errorf("%s has only %d tables", name, tables)
	}
}

// TestEveryFieldIsPrinted checks that no marked field is left out of the
// matrix, and no field at all out of the reference.
func TestEveryFieldIsPrinted(t *testing.T) {
	files, err := render()
	if err != nil {
		t.Fatal(err)
	}
	for page, load := range map[string]func() (*openapi.Document, error){"openai.md": openapi.OpenAI, "anthropic.md": openapi.Anthropic} {
		d, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range d.Operations() {
			for _, e := range viewErrors(o) {
				if e.Failed != "" {
					e.Code += " (response.failed: " + e.Failed + ")"
				}
				if !strings.Contains(string(files[page]), fmt.Sprintf("| %d | %s | %s | %s | %s |", e.Status, e.Name, e.Type, e.Code, cell(e.When))) {
					t.Errorf("%s lacks the error %s of %s", page, e.Name, o.ID)
				}
			}
			for _, r := range o.Replies {
				for _, h := range r.Headers {
					if !strings.Contains(string(files[page]), "| "+code(h.Name)+" |") {
						t.Errorf("%s lacks the header %s of %s", page, h.Name, o.ID)
					}
				}
			}
			for _, row := range o.Matrix() {
				if !strings.Contains(string(files[page]), "| "+code(row.Field)+" |") {
					t.Errorf("%s lacks %s of %s", page, row.Field, o.ID)
				}
			}
			for _, row := range o.Marked() {
				if !strings.Contains(string(files["support.md"]), "| "+row.Part+" | "+code(row.Field)+" |") {
					t.Errorf("support.md lacks %s of %s", row.Field, o.ID)
				}
			}
		}
	}
}

// TestEditedDocuments checks that marks, errors and headers of replies are printed from the
// documents.
func TestEditedDocuments(t *testing.T) {
	for _, tt := range []struct{ name, old, text, page, want string }{
		{"a mark", "      x-support-values:\n", "      x-support-values:\n        max_tokens: {document: unsupported, instead: end_turn, note: A note.}\n",
			"support.md", "| event message_delta | `delta.stop_reason=max_tokens` | \"max_tokens\" | unsupported | implemented | A note. |"},
		{"a mark in its place", "      x-support-values:\n", "      x-support-values:\n        max_tokens: {document: unsupported, instead: end_turn, note: A note.}\n",
			"anthropic.md", "| `delta.stop_reason=max_tokens` | \"max_tokens\" |  |  | unsupported. A note. |"},
		{"an error", "type: overloaded_error", "type: api_error",
			"anthropic.md", "| 529 | overloaded | api_error |  | Too many requests are running or waiting. |"},
		{"when an error comes", "summary: Too many requests are running or waiting.", "summary: On Mondays.",
			"anthropic.md", "| 529 | overloaded | overloaded_error |  | On Mondays. |"},
		{"a header", "x-should-retry: {", "x-may-retry: {",
			"anthropic.md", "| `x-may-retry` | 400, 401, 403, 404, 405, 413, 415, 426, 499, 500, 502, 504, 529 |  | \"false\" | Sent if the same request would fail again, whatever the status. |"},
	} {
		own, err := openapi.Embedded()
		if err != nil {
			t.Fatal(err)
		}
		own.Anthropic = handlerstest.Edited(t, "anthropic.yaml", tt.old, tt.text)
		files, err := renderOf(own)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(files[tt.page]), tt.want) {
			t.Errorf("%s: %s lacks %s", tt.name, tt.page, tt.want)
		}
	}
}

func TestDefaults(t *testing.T) {
	own, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	own.Anthropic = handlerstest.Edited(t, "anthropic.yaml", "default: 20", "default: 30")
	files, err := renderOf(own)
	if err != nil {
		t.Fatal(err)
	}
	if want := "How many models to list at most. Default: `30`. |"; !strings.Contains(string(files["anthropic.md"]), want) {
		t.Errorf("anthropic.md lacks %s", want)
	}
}

func TestSupportCell(t *testing.T) {
	tests := []struct {
		mark openapi.Mark
		want string
	}{
		{openapi.Mark{Document: "supported", Server: "implemented"}, ""},
		{openapi.Mark{Document: "supported", Server: "partial", Note: "One only."}, "*partial*. One only."},
		{openapi.Mark{Document: "unlisted", Server: "implemented"}, "unlisted"},
		{openapi.Mark{Document: "unsupported", Server: "refused", Note: "Use a|b."}, `*refused*, unsupported. Use a\|b.`},
		{openapi.Mark{Document: "supported", Server: "implemented", Note: "As is."}, "As is."},
	}
	for _, tt := range tests {
		if got := support(tt.mark); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.mark, got, tt.want)
		}
	}
}
