package handlers

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/handlers/handlerstest"
)

func TestParseKeys(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []Key
		err        string
	}{
		{"two", "ann: k1\nbob@example.org:k:2\n", []Key{{"ann", "k1"}, {"bob@example.org", "k:2"}}, ""},
		{"comments and blanks", "# keys\n\n  ann :  k1  \r\n", []Key{{"ann", "k1"}}, ""},
		{"none", "# nobody\n", nil, "there is no key in it"},
		{"empty", "", nil, "there is no key in it"},
		{"no name", "secret\n", nil, "line 1 is not NAME: KEY"},
		{"no key", "ann:\n", nil, "line 1 is not NAME: KEY"},
		{"a blank in a key", "a: b\nann: se cret\n", nil, "line 2 is not NAME: KEY"},
		{"a name twice", "ann: a\nann: b\n", nil, "line 2 has the name or the key of a line before"},
		{"a key twice", "ann: a\nbob: a\n", nil, "line 2 has the name or the key of a line before"},
		{"a long key", "ann: " + strings.Repeat("k", 1001), nil, "line 1 is not NAME: KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseKeys(tt.text)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "cret") {
				t.Errorf("the error holds a key: %v", err)
			}
		})
	}
}

// TestKeyFile changes the file of a running server: valid keys are taken over, and an
// invalid or missing file changes nothing. The log has names, never a key.
func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("ann: secret-1\n")
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	keys := NewKeys(Key{"fixed", "secret-0"})
	file, err := keys.AddFile(path, log)
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{Engine: &handlerstest.Engine{Name: "m"}, Log: log, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		name   string
		change func()
		log    string
		right  []string // keys, of secret-0 to secret-2
	}{
		{"at first", func() {}, "", []string{"secret-0", "secret-1"}},
		{"another key", func() { put("bob: secret-2\n") }, "keys=2", []string{"secret-0", "secret-2"}},
		{"nothing new", func() {}, "", []string{"secret-0", "secret-2"}},
		{"broken", func() { put("secret-1\n") }, "the API keys stay what they were", []string{"secret-0", "secret-2"}},
		{"still broken", func() {}, "", []string{"secret-0", "secret-2"}},
		{"empty", func() { put("") }, "there is no key in it", []string{"secret-0", "secret-2"}},
		{"gone", func() { _ = os.Remove(path) }, "no such file", []string{"secret-0", "secret-2"}},
		{"too large", func() { put(strings.Repeat("#", maxKeyFile+1)) }, "is no file of at most", []string{"secret-0", "secret-2"}},
		{"back", func() { put("ann: secret-1\nbob: secret-2\n") }, "keys=3", []string{"secret-0", "secret-1", "secret-2"}},
	} {
		out.Reset()
		step.change()
		file.reload()
		if got := out.String(); !strings.Contains(got, step.log) || step.log == "" && got != "" {
			t.Errorf("%s: the log is %q, want %q", step.name, got, step.log)
		}
		var right []string
		for _, key := range []string{"secret-0", "secret-1", "secret-2"} {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/models", nil)
			r.Host = "localhost"
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code == 200 {
				right = append(right, key)
			}
		}
		if diff := cmp.Diff(step.right, right); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", step.name, diff)
		}
		if strings.Contains(out.String(), "secret-") || !strings.Contains(out.String(), "key=fixed") {
			t.Errorf("%s: the log holds a key, or no name:\n%s", step.name, &out)
		}
	}
}

func TestReadableKeyFile(t *testing.T) {
	for mode, want := range map[os.FileMode]bool{0o600: false, 0o640: false, 0o644: true} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte("a: b\n"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := NewKeys().AddFile(path, slog.New(slog.NewTextHandler(&out, nil))); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "every user of this machine can read the API keys"); got != want {
			t.Errorf("mode %o: the log is %q", mode, out.String())
		}
	}
}
