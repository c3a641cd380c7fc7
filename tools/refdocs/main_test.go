package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/tools/refdocs/markdown"
)

var readOnce = sync.OnceValues(func() (sources, error) { return readSources("../../gen/reference") })

func rendered(t *testing.T, documents openapi.Documents) map[string]string {
	t.Helper()
	from, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	files, err := render(documents, from)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for name, text := range files {
		texts[name] = string(text)
	}
	for _, o := range from.others {
		texts["reference/"+o.File] = string(o.text)
	}
	return texts
}

func own(t *testing.T) openapi.Documents {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func TestRender(t *testing.T) {
	files, again := rendered(t, own(t)), rendered(t, own(t))
	tables := 0
	for name, text := range files {
		if again[name] != text {
			t.Errorf("%s differs from one run to the next", name)
		}
		if path.Ext(name) != ".md" {
			continue
		}
		if !regexp.MustCompile(`^<!-- Code generated .* DO NOT EDIT\. -->`).MatchString(text) {
			t.Errorf("%s does not say that it is generated", name)
		}
		if len(text) > markdown.MaxPage {
			t.Errorf("%s has %d bytes, more than %d", name, len(text), markdown.MaxPage)
		}
		tables += checkTables(t, name, text)
	}
	if tables < 50 {
		t.Errorf("there are only %d tables", tables)
	}
}

// checkTables checks that every row has as many cells as its heading.
func checkTables(t *testing.T, name, text string) (tables int) {
	columns := 0
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
	return tables
}

var (
	link     = regexp.MustCompile(`\]\(([^):]+)\)`)
	anchored = regexp.MustCompile(`<a id="([^"]+)">`)
)

// TestMarkdownLinks checks that each link leads to a page, and to a field on it.
func TestMarkdownLinks(t *testing.T) {
	files := rendered(t, own(t))
	for name, text := range files {
		ids := map[string]bool{}
		for _, found := range anchored.FindAllStringSubmatch(text, -1) {
			if ids[found[1]] {
				t.Errorf("%s has %q twice", name, found[1])
			}
			ids[found[1]] = true
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if path.Ext(name) != ".md" || strings.HasPrefix(found[1], "../../") {
				continue
			}
			file, id, _ := strings.Cut(found[1], "#")
			at := name
			if file != "" {
				at = path.Join(path.Dir(name), file)
			}
			if target, ok := files[at]; !ok || id != "" && !strings.Contains(target, `<a id="`+id+`">`) {
				t.Errorf("%s leads to %s, which is not there", name, found[1])
			}
		}
	}
}

// pagesOf joins the pages of an operation.
func pagesOf(files map[string]string, style, id string) string {
	var b strings.Builder
	for name, text := range files {
		if rest, ok := strings.CutPrefix(name, "reference/"+style+"/"+id); ok && (rest == ".md" || strings.HasPrefix(rest, "-")) {
			b.WriteString(text)
		}
	}
	return b.String()
}

// TestEveryFieldIsPrinted checks that no marked field is left out of the matrix, and no field
// at all out of the pages.
func TestEveryFieldIsPrinted(t *testing.T) {
	files, documents := rendered(t, own(t)), own(t)
	for style, d := range map[string]*openapi.Document{"openai": documents.OpenAI, "anthropic": documents.Anthropic} {
		for _, o := range d.Operations() {
			page, matrix := pagesOf(files, style, o.ID), files["reference/support/"+style+"-"+o.ID+".md"]
			for _, e := range o.Errors() {
				if !strings.Contains(page, fmt.Sprintf("| %d | %s | %s |", e.Status, e.Name, e.Type)) {
					t.Errorf("%s lacks the error %s", o.ID, e.Name)
				}
			}
			for _, r := range o.Replies {
				for _, h := range r.Headers {
					if !strings.Contains(page, "| `"+h.Name+"` |") {
						t.Errorf("%s lacks the header %s", o.ID, h.Name)
					}
				}
			}
			for _, row := range o.Matrix() {
				name := row.Field[strings.LastIndexAny(row.Field, ".=[")+1:]
				in := page
				if strings.HasPrefix(row.Part, "reply ") && row.Part >= "reply 400" {
					in = files["reference/errors.md"]
				}
				if !strings.Contains(in, strings.TrimSuffix(name, "]")) {
					t.Errorf("%s lacks %s", o.ID, row.Field)
				}
			}
			for _, row := range o.Marked() {
				if !strings.Contains(matrix, "| "+row.Part+" | `"+strings.ReplaceAll(row.Field, "|", `\|`)+"` |") {
					t.Errorf("the matrix of %s lacks %s", o.ID, row.Field)
				}
			}
		}
	}
}

// newField adds a field to the requests for messages.
var newField = [2]string{
	"        stop_sequences:\n          type: array\n",
	"        fresh:\n          type: [string, 'null']\n          minLength: 2\n          maxLength: 5\n          description: It is new.\n" +
		"          x-support: {document: unlisted, server: refused, note: Not yet.}\n        stop_sequences:\n          type: array\n",
}

// TestEditedDocuments checks that fields, marks, errors and headers are printed from the
// documents, on all pages that show them.
func TestEditedDocuments(t *testing.T) {
	for _, tt := range []struct{ name, old, text, page, want string }{
		{"a mark", "      x-support-values:\n", "      x-support-values:\n        max_tokens: {document: unsupported, instead: end_turn, note: A note.}\n",
			"reference/support/anthropic-createMessage.md", "| event message_delta | `delta.stop_reason=max_tokens` | \"max_tokens\" | unsupported | implemented | withheld | A note."},
		{"a field in the matrix", newField[0], newField[1],
			"reference/support/anthropic-createMessage.md", "| body | `fresh` | string or null | unlisted | refused | refused | Not yet. |"},
		{"a field in the tree", newField[0], newField[1],
			"reference/anthropic/createMessage-request.md", "- <a id=\"body-fresh\"></a>`fresh`: string or null; 2 to 5 characters. It is new. *refused*: Not yet."},
		{"a field in the browser", newField[0], newField[1],
			"site/anthropic/createMessage.html", `<code>fresh</code> <span class="type">string or null; 2 to 5 characters</span> <span class="badge refused">refused</span>`},
		{"a field in the search", newField[0], newField[1],
			"site/search.json", `["fresh","anthropic/createMessage.html#body-fresh","POST /v1/messages, request","It is new."]`},
		{"an error", "type: overloaded_error", "type: api_error",
			"reference/errors.md", "| 529 | overloaded | api_error |  | Too many requests are running or waiting. |"},
		{"when an error comes", "summary: Too many requests are running or waiting.", "summary: On Mondays.",
			"reference/anthropic/listModels.md", "| 529 | overloaded | overloaded_error |  | On Mondays. |"},
		{"a header", "x-should-retry: {", "x-may-retry: {",
			"reference/anthropic/listModels.md", "| `x-may-retry` |"},
		{"a default", "default: 20", "default: 30",
			"reference/anthropic/listModels.md", "Default: `30`."},
	} {
		documents := own(t)
		documents.Anthropic = handlerstest.Edited(t, "anthropic.yaml", tt.old, tt.text)
		if files := rendered(t, documents); !strings.Contains(files[tt.page], tt.want) {
			t.Errorf("%s: %s lacks %s", tt.name, tt.page, tt.want)
		}
	}
}
