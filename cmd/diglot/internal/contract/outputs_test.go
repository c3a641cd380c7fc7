package contract

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// TestOutputsAreCheckedBeforeTheRun holds that nothing is sent if a file cannot be written.
func TestOutputsAreCheckedBeforeTheRun(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	if err := os.Symlink("new", in("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("old"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", in("other")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		status     int
		args       []string
	}{
		{"no folder", "--junit cannot be written", exit.Failure, []string{"--junit", in("no/j.xml")}},
		{"a folder", "is a directory", exit.Failure, []string{"--badge", folder}},
		{"one file", "--junit and --markdown name one file", exit.BadUsage, []string{"--junit", in("a"), "--markdown", folder + "/./a"}},
		{"a link", "--junit and --badge name one file", exit.BadUsage, []string{"--junit", in("old"), "--badge", in("other")}},
		{"the baseline", "--junit and --baseline name one file", exit.BadUsage, []string{"--junit", in("b"), "--baseline", in("b"), "--write-baseline"}},
	} {
		args := append([]string{"--base-url", server.URL, "--model", model, "--only", "openai/chat/usage/sum"}, tt.args...)
		status, stdout, stderr := verifyWith(t.Context(), nil, args...)
		if status != tt.status || !strings.Contains(stderr, tt.want) || stdout != "" || asked {
			t.Errorf("%s: exit code %d, %q, want %d, %q; asked %v", tt.name, status, stderr, tt.status, tt.want, asked)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 3 {
		t.Errorf("%v, %v is left", err, left)
	}
	o := verifyOptions{outputs: outputs{junit: os.DevNull, markdown: os.DevNull, badge: in("link")}}
	if err := o.writable(); err != nil {
		t.Errorf("a device and a new file: %v", err)
	}
}
