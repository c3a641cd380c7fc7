package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
	"github.com/diglot/diglot/engine/models/store"
)

// user is somebody with an empty home.
type user struct {
	t         *testing.T
	home      string
	variables map[string]string
	stdin     io.Reader
}

func newUser(t *testing.T) *user {
	t.Helper()
	home, err := os.MkdirTemp("", "d") // short, for the path of the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	return &user{t: t, home: home, variables: map[string]string{"HOME": home}, stdin: strings.NewReader("")}
}

func (u *user) environment(stdout, stderr io.Writer) environment {
	return environment{stdin: u.stdin, stdout: stdout, stderr: stderr, getenv: func(name string) string { return u.variables[name] }}
}

// do runs a command line to its end.
func (u *user) do(args ...string) (status int, stdout, stderr string) {
	u.t.Helper()
	return u.doWithin(u.t.Context(), args...)
}

func (u *user) doWithin(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(ctx, args, u.environment(&out, &err))
	return status, out.String(), err.String()
}

// must runs a command that succeeds, and returns what it prints.
func (u *user) must(args ...string) (stdout string) {
	u.t.Helper()
	status, stdout, stderr := u.do(args...)
	if status != 0 {
		u.t.Fatalf("diglot %q ends with %d: %s", args, status, stderr)
	}
	return stdout
}

// write makes a file in the home.
func (u *user) write(name, content string) string {
	u.t.Helper()
	path := filepath.Join(u.home, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		u.t.Fatal(err)
	}
	return path
}

// model makes a model of a tiny file.
func (u *user) model(name, more string) {
	u.t.Helper()
	u.made("tiny.gguf", inspectiontest.Recipe{Architecture: "llama", Meta: map[string]any{
		"llama.context_length": uint32(512), "tokenizer.chat_template": "{{ messages }}",
	}})
	u.must("create", name, "--quiet", "-f", u.write("tiny.modelfile", "FROM ./tiny.gguf\n"+more))
}

// made writes the file of a small model.
func (u *user) made(name string, r inspectiontest.Recipe) string {
	u.t.Helper()
	parts, err := inspectiontest.Model(r, 1)
	if err != nil {
		u.t.Fatal(err)
	}
	return u.write(name, string(parts.Bytes()))
}

var (
	digests = regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	hexes   = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
	times   = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)
	since   = regexp.MustCompile(`(less than a|about a|\d+) seconds? ago`)
)

// steady is a text without what differs from run to run.
func steady(text string) string {
	text = digests.ReplaceAllString(text, "DIGEST")
	text = hexes.ReplaceAllString(text, "ID")
	text = times.ReplaceAllString(text, `"TIME"`)
	return since.ReplaceAllString(text, "AGO")
}

func TestStoreVerbs(t *testing.T) {
	u := newUser(t)
	if got := u.must("list", "--json"); got != "[]\n" {
		t.Errorf("an empty store is %q", got)
	}
	u.model("mine:v1", "PARAMETER num_ctx 256\nPARAMETER stop END\nSYSTEM Be brief.\nMESSAGE user hi\nLICENSE free\n")
	u.must("cp", "mine:v1", "gpt-4o")
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"list", []string{"list", "MINE"}, "NAME       ID              SIZE      MODIFIED\nmine:v1    ID    SIZE    AGO\n"},
		{"list of none", []string{"ls", "nothing"}, "NAME    ID    SIZE    MODIFIED\n"},
		{"list for programs", []string{"ls", "gpt", "--json"}, `[
  {
    "name": "gpt-4o",
    "digest": "DIGEST",
    "size": SIZE,
    "modified_at": "TIME"
  }
]
`},
		{"parameters", []string{"show", "gpt-4o", "--parameters"}, "num_ctx 256\nstop END\n"},
		{"system", []string{"show", "gpt-4o", "--system"}, "Be brief.\n"},
		{"template", []string{"show", "gpt-4o", "--template"}, "{{ messages }}\n"},
		{"license", []string{"show", "gpt-4o", "--license"}, "free\n"},
		{"overview", []string{"show", "mine:v1"}, `Model
  name               mine:v1
  architecture       llama
  parameters         78656
  quantization       F32
  context length     512
  capabilities       completion, chat
  size               SIZE
  digest             DIGEST

Parameters
  num_ctx            256
  stop               END

System
  Be brief.

License
  free

`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := regexp.MustCompile(`(?m)^  kernels .*\n`).ReplaceAllString(steady(u.must(tt.args...)), "") // of this processor, if it computes here
			got = regexp.MustCompile(`[\d.]+ [KM]?B|"size": \d+`).ReplaceAllStringFunc(got, func(s string) string {
				if strings.HasPrefix(s, `"`) {
					return `"size": SIZE`
				}
				return "SIZE"
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	u.must("rm", "mine:v1", "gpt-4o")
	if got := u.must("list", "--json"); got != "[]\n" {
		t.Errorf("after rm there is %s", got)
	}
}

// TestShowJSON holds the names that programs may rely on.
func TestShowJSON(t *testing.T) {
	u := newUser(t)
	u.model("mine", "PARAMETER num_ctx 256\nMESSAGE user hi\n")
	u.must("create", "far", "-f", u.write("far", "FROM https://api.example.com/v1\nPARAMETER model big\n"))
	for name, want := range map[string][]string{
		"mine": {"architecture", "capabilities", "context_length", "digest", "layers", "licenses", "messages", "modelfile", "modified_at", "name", "parameter_size", "parameters", "quantization", "size", "system", "template", "vision"},
		"far":  {"capabilities", "digest", "layers", "licenses", "messages", "modelfile", "modified_at", "name", "parameters", "remote", "size", "system", "template", "vision"},
	} {
		var got map[string]json.RawMessage
		if err := json.Unmarshal([]byte(u.must("show", name, "--json")), &got); err != nil {
			t.Fatal(err)
		}
		if _, ok := got["kernels"]; ok != (matrix.Compiled && name == "mine") {
			t.Errorf("kernels of %s are told: %t", name, ok)
		}
		delete(got, "kernels")
		var members []string
		for member, value := range got {
			members = append(members, member)
			if string(value) == "null" {
				t.Errorf("%s of %s is null", member, name)
			}
		}
		slices.Sort(members)
		if diff := cmp.Diff(want, members); diff != "" {
			t.Errorf("members of %s (-want +got):\n%s", name, diff)
		}
	}
}

// TestModelfileRoundTrip makes a model of what show prints: it is the same.
func TestModelfileRoundTrip(t *testing.T) {
	u := newUser(t)
	u.model("one", "PARAMETER temperature 0.5\nSYSTEM \"\"\"two\nlines\"\"\"\nMESSAGE user hi\nMESSAGE assistant yes\n")
	u.stdin = strings.NewReader(u.must("show", "one", "--modelfile"))
	u.must("create", "two", "-f", "-")
	var models []modelJSON
	if err := json.Unmarshal([]byte(u.must("list", "--json")), &models); err != nil {
		t.Fatal(err)
	}
	if len(models) != 2 || models[0].Digest != models[1].Digest {
		t.Errorf("models %+v", models)
	}
}

// badNames are no names of models, and must not become paths.
var badNames = map[string]string{
	"above":       "../../x",
	"hidden":      "a/../../b",
	"absolute":    "/etc/passwd",
	"backslash":   `a\..\b`,
	"NUL":         "a\x00b",
	"long":        strings.Repeat("a", 5000),
	"alphabet":    "модель",
	"line end":    "a\nb",
	"empty":       "",
	"empty tag":   "a:",
	"escape":      "a\x1b[2Jb",
	"option like": "a:-x",
}

// TestBadNames gives each to every verb: it ends with 2, a sentence, and
// nothing on disk.
func TestBadNames(t *testing.T) {
	u := newUser(t)
	file := u.write("f", "FROM https://api.example.com/v1\nPARAMETER model big\n")
	for _, verb := range [][]string{
		{"show", "NAME"}, {"rm", "NAME"}, {"rm", "good", "NAME"}, {"cp", "NAME", "good"}, {"cp", "good", "NAME"},
		{"create", "NAME", "-f", file}, {"pull", "NAME"}, {"push", "NAME"}, {"load", "NAME"}, {"stop", "NAME"}, {"run", "NAME", "hi"},
	} {
		for what, name := range badNames {
			args := slices.Clone(verb)
			args[slices.Index(args, "NAME")] = name
			status, stdout, stderr := u.do(args...)
			if status != exit.BadUsage || stdout != "" || !strings.Contains(stderr, "model name") || len(stderr) > 500 || strings.ContainsAny(stderr, "\x1b\x00") {
				t.Errorf("%s with a name that is %s: status %d, printed %q and %.600q", verb[0], what, status, stdout, stderr)
			}
		}
	}
	if entries, err := os.ReadDir(filepath.Join(u.home, ".diglot")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is %v in the home, error %v", entries, err)
	}
}

func TestExitStatuses(t *testing.T) {
	u := newUser(t)
	u.must("create", "far", "-f", u.write("far", "FROM https://api.example.com/v1\nPARAMETER model big\n"))
	wrong := u.write("wrong", "FROM far\nPARAMETRE x 1\n")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name   string
		ctx    context.Context
		args   []string
		status int
		want   string // on standard error
	}{
		{"show of nothing", nil, []string{"show", "none"}, exit.NotFound, "model none: no such model"},
		{"rm of nothing", nil, []string{"rm", "none"}, exit.NotFound, "none"},
		{"cp of nothing", nil, []string{"cp", "none", "x"}, exit.NotFound, "none"},
		{"push of nothing", nil, []string{"push", "registry.example.com/a/none"}, exit.NotFound, "none"},
		{"ps without a server", nil, []string{"ps"}, exit.NoServer, "no server is running"},
		{"load without a server", nil, []string{"load", "far"}, exit.NoServer, "no server is running"},
		{"stop without a server", nil, []string{"stop", "far"}, exit.NoServer, "no server is running"},
		{"two parts", nil, []string{"show", "far", "--system", "--license"}, exit.BadUsage, "use only one flag"},
		{"too few", nil, []string{"cp", "a"}, exit.BadUsage, `requires a model name and a new name; see "diglot cp --help"`},
		{"too many", nil, []string{"pull", "a", "b"}, exit.BadUsage, `unexpected argument "b"`},
		{"no file", nil, []string{"create", "x", "-f", filepath.Join(u.home, "none")}, exit.Failure, "give another Modelfile with -f FILE"},
		{"wrong file", nil, []string{"create", "x", "-f", wrong}, exit.Failure, "wrong: line 2: "},
		{"no prompt", nil, []string{"run", "far"}, exit.BadUsage, "missing prompt"},
		{"both thoughts", nil, []string{"run", "far", "hi", "--think", "--no-think"}, exit.BadUsage, "exclude each other"},
		{"no setting", nil, []string{"run", "far", "hi", "--set", "speed=9"}, exit.BadUsage, `unknown setting "speed"`},
		{"wrong setting", nil, []string{"run", "far", "hi", "--set", "top_p=9"}, exit.BadUsage, "top_p is a number from 0 to 1"},
		{"no value", nil, []string{"run", "far", "hi", "--set", "top_p"}, exit.BadUsage, "not NAME=VALUE"},
		{"wrong format", nil, []string{"run", "far", "hi", "--format", "xml"}, exit.BadUsage, "format is json or text"},
		{"not allowed", nil, []string{"run", "far", "hi"}, exit.Failure, "diglot login api.example.com"},
		{"no text", nil, []string{"run", "far"}, exit.Failure, "standard input is not UTF-8 text"},
		{"no picture", nil, []string{"run", "far", u.write("x.png", "no picture") + " what?"}, exit.Failure, "x.png: The data is not an image"},
		{"login to nothing", nil, []string{"login", "ftp://x"}, exit.BadUsage, "is not a server URL"},
		{"login without a key", nil, []string{"login", "x.example.com"}, exit.BadUsage, "missing key"},
		{"login with two ways", nil, []string{"login", "x.example.com", "--no-key", "--key-env", "K"}, exit.BadUsage, "exclude each other"},
		{"logout from nothing", nil, []string{"logout", "x.example.com"}, exit.Failure, "x.example.com"},
		{"interrupted list", gone, []string{"list"}, exit.Interrupted, "diglot: interrupted\n"},
		{"interrupted pull", gone, []string{"pull", "far"}, exit.Interrupted, `"diglot pull far" resumes it`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u.stdin = strings.NewReader("")
			if tt.name == "no text" {
				u.stdin = strings.NewReader("\xff\xd8\xff")
			}
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			status, stdout, stderr := u.doWithin(ctx, tt.args...)
			if status != tt.status || !strings.Contains(stderr, tt.want) {
				t.Errorf("status %d, printed %q; want %d and %q", status, stderr, tt.status, tt.want)
			}
			if stdout != "" {
				t.Errorf("an error prints %q on standard output", stdout)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	u := newUser(t)
	u.stdin = strings.NewReader("secret-key\n")
	u.must("login", "a.example.com")
	u.must("login", "b.example.com", "--key-env", "B_KEY")
	u.must("login", "http://localhost:8000", "--no-key")
	want := `[
  {
    "host": "a.example.com",
    "key": "stored"
  },
  {
    "host": "b.example.com",
    "key": "environment",
    "variable": "B_KEY"
  },
  {
    "host": "localhost:8000",
    "key": "none"
  }
]
`
	if diff := cmp.Diff(want, u.must("login", "--json")); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	if table := u.must("login"); strings.Contains(table, "secret-key") || !strings.Contains(table, "a.example.com") {
		t.Errorf("hosts:\n%s", table)
	}
	u.must("logout", "a.example.com")
	if table := u.must("login"); strings.Contains(table, "a.example.com") {
		t.Errorf("hosts after logout:\n%s", table)
	}
}

// TestPullAndPush sends a model to a registry that keeps it in memory, and
// fetches it into another store.
func TestPullAndPush(t *testing.T) {
	server := httptest.NewServer(newMemoryRegistry())
	defer server.Close()
	name := strings.TrimPrefix(server.URL, "http://") + "/team/mine:v1"
	u := newUser(t)
	u.model("mine", "SYSTEM Be brief.\n")
	u.must("cp", "mine", name)
	if status, _, stderr := u.do("push", name); status != 0 || !strings.Contains(stderr, "done") {
		t.Fatalf("push: status %d\n%s", status, stderr)
	}
	other := newUser(t)
	if status, _, stderr := other.do("pull", strings.Replace(name, "mine", "none", 1)); status != exit.NotFound {
		t.Errorf("pull of nothing: status %d\n%s", status, stderr)
	}
	var got, want modelJSON
	if err := json.Unmarshal([]byte(other.must("pull", name, "--json")), &got); err != nil {
		t.Fatal(err)
	}
	var models []modelJSON
	if err := json.Unmarshal([]byte(u.must("list", "--json")), &models); err != nil {
		t.Fatal(err)
	}
	want = models[0]
	want.Name, want.Modified = name, got.Modified
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pulled (-want +got):\n%s", diff)
	}
	status, stdout, stderr := other.do("pull", name, "--quiet")
	if status != 0 || stdout != "" || stderr != "" {
		t.Errorf("a quiet pull: status %d, printed %q and %q", status, stdout, stderr)
	}
	if got := other.must("show", name, "--system"); got != "Be brief.\n" {
		t.Errorf("the system text is %q", got)
	}
}

// TestPullOfRemoteModel has a stranger's definition that names a host: it is
// said, and nothing is sent there.
func TestPullOfRemoteModel(t *testing.T) {
	server := httptest.NewServer(newMemoryRegistry())
	defer server.Close()
	name := strings.TrimPrefix(server.URL, "http://") + "/team/far"
	u := newUser(t)
	u.must("create", name, "-f", u.write("far", "FROM https://api.example.com/v1\nPARAMETER model big\n"))
	u.must("push", name)
	other := newUser(t)
	status, _, stderr := other.do("pull", name)
	if status != 0 || !strings.Contains(stderr, "runs on api.example.com") || !strings.Contains(stderr, "diglot login api.example.com") {
		t.Errorf("status %d\n%s", status, stderr)
	}
	other.must("login", "api.example.com", "--no-key")
	if _, _, stderr := other.do("pull", name); strings.Contains(stderr, "runs on") {
		t.Errorf("it is said again after the login:\n%s", stderr)
	}
}

func TestCompletion(t *testing.T) {
	u := newUser(t)
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := u.must("completion", shell); !strings.Contains(got, "diglot") {
			t.Errorf("completion for %s: %.200q", shell, got)
		}
	}
	u.must("create", "far", "-f", u.write("far", "FROM https://api.example.com/v1\nPARAMETER model big\n"))
	u.must("cp", "far", "farther")
	for _, tt := range []struct{ args, want string }{
		{"show ", "far\nfarther\n:4\n"},
		{"rm far ", "farther\n:4\n"},
		{"cp far ", ":4\n"},
		{"run ", "far\nfarther\n:4\n"},
		{"run far ", ":4\n"},
		{"load ", "far\nfarther\n:4\n"},
		{"stop ", ":4\n"},
		{"serve --load ", "far\nfarther\n:4\n"},
		{"serve --profile ", "default\ndocument\n:4\n"},
		{"run far --format ", "json\ntext\n:4\n"},
		{"run far --set ", "frequency_penalty=\nmax_tokens=\nmin_p=\npresence_penalty=\nrepeat_last_n=\nrepeat_penalty=\nseed=\nstop=\ntemperature=\ntop_k=\ntop_p=\ntypical_p=\n:6\n"},
	} {
		got := strings.Split(u.must(append([]string{"__complete"}, strings.Split(tt.args, " ")...)...), "\n")
		slices.Sort(got[:len(got)-2])
		if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.args, diff)
		}
	}
}

// TestHelp has an example, or no argument, for every verb, and a line that
// says what it does.
func TestHelp(t *testing.T) {
	u := newUser(t)
	for _, c := range newRoot(u.environment(io.Discard, io.Discard)).Commands() {
		if c.Hidden {
			continue
		}
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || strings.Contains(c.Use, " ") && c.Example == "" {
			t.Errorf("help of %s: %q, example %q", c.Name(), c.Short, c.Example)
		}
	}
}

// BenchmarkList lists a thousand models.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	models, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	change, err := models.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	config, err := change.Write(b.Context(), store.MediaTypeConfig, strings.NewReader("{}"))
	if err != nil {
		b.Fatal(err)
	}
	manifest, err := store.Manifest{Config: config}.Encode()
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		n, err := store.ParseName(fmt.Sprintf("m%d", i))
		if err == nil {
			_, err = change.Put(b.Context(), n, manifest)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := change.Close(); err != nil {
		b.Fatal(err)
	}
	env := environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, getenv: func(name string) string {
		return map[string]string{"DIGLOT_MODELS": dir}[name]
	}}
	for b.Loop() {
		if status := run(b.Context(), []string{"list"}, env); status != 0 {
			b.Fatal(status)
		}
	}
}
