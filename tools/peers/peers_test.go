package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/diglot/diglot/internal/cassette"
)

// TestRecordings wants all cases of diglot, and no others of the rest.
func TestRecordings(t *testing.T) {
	files := os.DirFS("../../" + recordings)
	own, err := readServer(files, "diglot")
	if err != nil || len(own.cases) != 40 {
		t.Errorf("%d cases of diglot are recorded, not 40; error %v", len(own.cases), err)
	}
	known := map[string]bool{}
	for _, c := range own.cases {
		known[c.Name] = true
	}
	for _, s := range servers {
		r, err := readServer(files, s.Name)
		if err != nil {
			t.Error(err)
		}
		for _, c := range r.cases {
			if !known[c.Name] || len(c.Interactions) == 0 {
				t.Errorf("%s: %s has %d exchanges, and is a case of diglot: %t", s.Name, c.Name, len(c.Interactions), known[c.Name])
			}
		}
	}
}

// TestPage has a server that answers otherwise, and one that is not recorded.
func TestPage(t *testing.T) {
	text := func(reply string) *fstest.MapFile {
		formatted, err := cassette.Format([]cassette.Interaction{{
			Request: cassette.Request{Method: "GET", URL: "/v1/models"}, Response: cassette.Response{Code: 200, Body: reply}}})
		if err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: formatted}
	}
	page, err := renderPage(fstest.MapFS{
		"diglot/about.yml": {Data: []byte("version: v1\ndate: 2026-01-02\n")},
		"diglot/list.yaml": text(`{"object":"list","data":[]}`),
		"ollama/about.yml": {Data: []byte("version: v2\ndate: 2026-01-03\n")},
		"ollama/list.yaml": text(`{"data":[]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in 1 cases", "| diglot | v1 | 2026-01-02 | 1 | |\n", "| llama-server | | not yet | 0 | |\n", "| ollama | v2 | 2026-01-03 | 1 | 0 |\n",
		"## ollama v2\n\n### GET /v1/models\n", "| 1 | `object`: missing | list |\n"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestShorten(t *testing.T) {
	i := cassette.Interaction{
		Request:  cassette.Request{Body: `{"content":"` + strings.Repeat("word ", 3000) + `"}`},
		Response: cassette.Response{Body: `{"data":[{"embedding": [1, -0.50, 3, 4e-5, 6, 7]},{"embedding":[1,2]},{"embedding":"base64"}]}`},
	}
	shorten(&i)
	if want := `{"content":"` + strings.Repeat("word ", 10) + `"}`; i.Request.Body != want {
		t.Errorf("the request is %s", i.Request.Body)
	}
	if want := `{"data":[{"embedding":[1,-0.50,3,4e-5]},{"embedding":[1,2]},{"embedding":"base64"}]}`; i.Response.Body != want {
		t.Errorf("the reply is %s", i.Response.Body)
	}
}

// TestReplace holds that recordings stay until all new ones are there.
func TestReplace(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "peers", "server")
	fill := func(name string, err error) func(string) error {
		return func(folder string) error {
			return errors.Join(os.WriteFile(filepath.Join(folder, name), nil, 0o644), err)
		}
	}
	broken := errors.New("the server ended")
	for _, step := range []struct {
		name string
		err  error
		want string // the file that is there
	}{
		{"first", nil, "first"}, {"half", broken, "first"}, {"second", nil, "second"},
	} {
		if err := replace(folder, fill(step.name, step.err)); !errors.Is(err, step.err) {
			t.Errorf("%s: error %v", step.name, err)
		}
		files, err := os.ReadDir(folder)
		if err != nil || len(files) != 1 || files[0].Name() != step.want {
			t.Errorf("%s: %v, %v", step.name, files, err)
		}
		if beside, err := os.ReadDir(filepath.Dir(folder)); err != nil || len(beside) != 1 {
			t.Errorf("%s: %v, %v", step.name, beside, err)
		}
	}
}
