package contract

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/internal/cassette"
)

// recorded writes a recording of cases with one reply each.
func recorded(t *testing.T, replies map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, body := range replies {
		err := cassette.Write(folder, cassette.Cassette{Name: name, Interactions: []cassette.Interaction{{
			Request:  cassette.Request{Method: "POST", URL: "/v1/x"},
			Response: cassette.Response{Code: 200, Headers: http.Header{"Content-Type": {"application/json"}}, Body: body},
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestDiff(t *testing.T) {
	a := recorded(t, map[string]string{"a": `{"id":"x","n":null}`, "b": `{"id":"y","n":null}`, "c": `{}`})
	b := recorded(t, map[string]string{"a": `{"id":"z"}`, "b": `{"id":"z"}`, "c": `{}`})
	const words = "3 cases, 1 the same; 1 difference\n\nPOST /v1/x\n    2 cases  n: missing  (a, b)\n"
	page := filepath.Join(t.TempDir(), "page.md")
	for _, tt := range []struct {
		name   string
		args   []string
		out    string
		status int
	}{
		{"the same", []string{a, a}, "3 cases, 3 the same; 0 differences\n", 0},
		{"different", []string{a, b}, words, exit.Failure},
		{"ignored", []string{a, b, "--ignore", "^n$"}, "3 cases, 3 the same; 0 differences\n", 0},
		{"files", []string{filepath.Join(a, "a.yaml"), filepath.Join(b, "b.yaml")}, "1 case, 0 the same; 1 difference\n\nPOST /v1/x\n     1 case  n: missing  (a)\n", exit.Failure},
		{"with a page", []string{a, b, "--markdown", page}, words, exit.Failure},
		{"JSON", []string{a, a, "--json"}, "{\n  \"cases\": 3,\n  \"same\": 3,\n  \"differences\": []\n}\n", 0},
		{"a folder without cassettes", []string{a, t.TempDir()}, "", exit.Failure},
	} {
		out, err := command(t.Context(), io.Discard, append([]string{"diff"}, tt.args...)...)
		if out != tt.out || exit.Status(err) != tt.status {
			t.Errorf("%s: exit code %d (%v), printed\n%s\nwant %d and\n%s", tt.name, exit.Status(err), err, out, tt.status, tt.out)
		}
	}
	text, err := os.ReadFile(page)
	if want := "## POST /v1/x\n\n| cases | difference | where |\n|---:|---|---|\n| 2 | `n`: missing | a, b |\n"; err != nil || string(text) != want {
		t.Errorf("the page, error %v:\n%s\nwant\n%s", err, text, want)
	}
}

// TestDiffCountsCases holds that the last words fit the exit code.
func TestDiffCountsCases(t *testing.T) {
	both := recorded(t, map[string]string{"a": `{}`, "b": `{}`, "c": `{}`})
	for _, tt := range []struct {
		name string
		b    map[string]string
		want string
	}{
		{"one is missing", map[string]string{"a": `{}`, "b": `{}`}, "0 of 2 cases differ; in one recording only: 1"},
		{"one is another", map[string]string{"a": `{}`, "b": `{}`, "d": `{}`}, "0 of 2 cases differ; in one recording only: 2"},
		{"one differs", map[string]string{"a": `{}`, "b": `{}`, "c": `{"n":1}`}, "1 of 3 cases differ"},
	} {
		if _, err := command(t.Context(), io.Discard, "diff", both, recorded(t, tt.b)); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// TestFilesAreWhole holds that a file which cannot be written keeps its words.
func TestFilesAreWhole(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "known.yaml"), filepath.Join(folder, "link.yaml")
	if err := os.WriteFile(file, []byte("reasons"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	if err := writeFile(file, func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return full }); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(file); string(text) != "reasons" {
		t.Errorf("the file has %q, %v", text, err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for _, path := range []string{link, os.DevNull, ""} {
		if err := writeFile(path, write); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
	if text, err := os.ReadFile(file); string(text) != "new" {
		t.Errorf("behind the link: %q, %v", text, err)
	}
	if at, err := os.Readlink(link); at != file {
		t.Errorf("the link is %q, %v", at, err)
	}
}
