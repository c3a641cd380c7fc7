package process

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
	"github.com/diglot/diglot/engine/local/llamacpp"
	"github.com/diglot/diglot/engine/models/library"
)

func TestLaunchCommand(t *testing.T) {
	got := launchCommand("p", Limits{Kernels: Kernels(llamacpp.KernelsGGML), Draft: Draft{None: true}}, library.Launch{
		Name: "a:b", Path: "f", Projector: "g", Template: "t", Adapters: []string{"x", "y"}, Context: 4, Threads: 2, Parallel: 3, Memory: 5,
	})
	want := strings.Fields("p runner --model a:b=f,g --threads 2 --parallel 3 --context 4 --kernels ggml --draft none --template t --adapter x --adapter y --memory 5")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestChanges: the flags that the changes of a model make give the same ones
// when they are read.
func TestChanges(t *testing.T) {
	for _, want := range []Changes{
		{},
		{Template: "t=1.gotmpl"},
		{Template: "t", Adapters: flagvalue.List{"a,b.gguf", "--c.gguf"}},
	} {
		var got Changes
		set := pflag.NewFlagSet("runner", pflag.ContinueOnError)
		got.Register(set)
		if err := set.Parse(want.args()); err != nil {
			t.Errorf("%v: %v", want.args(), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", want.args(), diff)
		}
	}
}

func TestSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "right")
	if err := os.WriteFile(path, []byte("{{ .Prompt }}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Changes{Template: path}.source()
	if err != nil || got != "{{ .Prompt }}\n" {
		t.Errorf("a right one: %q, error %v", got, err)
	}
}

// fileModel is a model that has a template in its file.
type fileModel struct{ chat.Model }

func (fileModel) Info() chat.Info {
	return chat.Info{Name: "file", Template: "own", Sampling: engine.Sampling{}}
}

func TestNamed(t *testing.T) {
	for _, tt := range []struct{ template, want string }{{"", "own"}, {"{{ .Prompt }}", "{{ .Prompt }}"}} {
		if info := (named{fileModel{}, "n", tt.template}).Info(); info.Name != "n" || info.Template != tt.want {
			t.Errorf("template %q: name %q, template %q", tt.template, info.Name, info.Template)
		}
	}
}

// TestVariables: what is in the environment of a server is not for the
// processes of models, but for a short list, and no crash starts a debugger.
func TestVariables(t *testing.T) {
	all := map[string]string{
		"AWS_SECRET_ACCESS_KEY": "a", "OPENAI_API_KEY": "b", "DIGLOT_API_KEY": "c", "HOME": "/home/d", "PATH": "/bin", "SSH_AUTH_SOCK": "/e",
		"TZ": "Europe/Berlin", "GODEBUG": "", "GOMAXPROCS": "2",
	}
	got := Variables(func(name string) string { return all[name] })
	if diff := cmp.Diff([]string{"GGML_NO_BACKTRACE=1", "GOMAXPROCS=2", "TZ=Europe/Berlin"}, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

func TestKernels(t *testing.T) {
	for _, tt := range []struct {
		given string
		ok    bool
		args  []string
	}{
		{"own", true, nil},
		{"ggml", true, []string{"--kernels", "ggml"}},
		{"fast", false, nil},
		{"", false, nil},
	} {
		var k Kernels
		if err := k.Set(tt.given); (err == nil) != tt.ok {
			t.Errorf("%q: error %v", tt.given, err)
		}
		if diff := cmp.Diff(tt.args, k.args()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.given, diff)
		}
	}
}

func TestDraft(t *testing.T) {
	for _, tt := range []struct {
		value, name, file string
		args              []string
	}{
		{"auto", "", "", nil},
		{"none", "", "", []string{"--draft", "none"}},
		{"qwen2.5:0.5b", "qwen2.5:0.5b", "", []string{"--draft", "qwen2.5:0.5b"}},
		{"some/small.GGUF", "", "some/small.GGUF", []string{"--draft", "some/small.GGUF"}},
	} {
		d := Draft{None: true, Model: "before"}
		if err := d.Set(tt.value); err != nil || d.String() != tt.value || d.Name() != tt.name || d.File() != tt.file {
			t.Errorf("%s: %v, %+v", tt.value, err, d)
		}
		if diff := cmp.Diff(tt.args, d.args()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.value, diff)
		}
	}
	if err := new(Draft).Set(""); err == nil {
		t.Error("nothing is taken")
	}
	if err := (Draft{Model: "missing.gguf"}).Check(); err == nil {
		t.Error("a file that is missing is taken")
	}
}

// TestDraftOf: no model guesses for itself, or for one that draws.
func TestDraftOf(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(text, link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		draft  Draft
		launch library.Launch
		want   string
	}{
		{"a model", Draft{}, library.Launch{Path: text, Draft: "d"}, "d"},
		{"none for it", Draft{}, library.Launch{Path: text}, ""},
		{"turned off", Draft{None: true}, library.Launch{Path: text, Draft: "d"}, ""},
		{"itself", Draft{}, library.Launch{Path: text, Draft: text}, ""},
		{"itself, by another name", Draft{}, library.Launch{Path: text, Draft: link}, ""},
		{"an image model", Draft{}, library.Launch{Parts: []string{"p"}, Draft: "d"}, ""},
	} {
		if got := tt.draft.draftOf(tt.launch); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		args := launchCommand("p", Limits{Draft: tt.draft}, tt.launch)
		if i := slices.Index(args, "--draft"); tt.want != "" && (i < 0 || args[i+1] != tt.want) || tt.want == "" && i >= 0 && args[i+1] != "none" {
			t.Errorf("%s: the command is %q", tt.name, args)
		}
	}
}

// TestCanDraft: by the headers, a model that guesses for all is left out where it cannot
// guess, and the log says why, unless none was to be expected.
func TestCanDraft(t *testing.T) {
	write := func(r inspectiontest.Recipe) string {
		file, err := inspectiontest.Model(r, 1)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := file.Write(path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	recipe := func(architecture, tokenizer string) inspectiontest.Recipe {
		return inspectiontest.Recipe{Architecture: architecture, Tokenizer: tokenizer}
	}
	recipes, err := inspectiontest.Recipes(1)
	if err != nil {
		t.Fatal(err)
	}
	mamba := write(recipes[slices.IndexFunc(recipes, func(r inspectiontest.Recipe) bool { return r.Architecture == "mamba" })])
	encoder := write(recipes[slices.IndexFunc(recipes, func(r inspectiontest.Recipe) bool { return r.Architecture == "bert" })])
	large, small, other := write(recipe("llama", "gpt2")), write(recipe("llama", "gpt2")), write(recipe("llama", "llama"))
	for _, tt := range []struct {
		name   string
		launch library.Launch
		want   bool
		log    string // part of it
	}{
		{"the same vocabulary", library.Launch{Path: large, Draft: small}, true, ""},
		{"itself", library.Launch{Path: large, Draft: large}, false, ""},
		{"an image model", library.Launch{Parts: []string{"p"}, Draft: small}, false, ""},
		{"an encoder", library.Launch{Path: encoder, Draft: small}, false, ""},
		{"another vocabulary", library.Launch{Name: "big", Path: large, Draft: other}, false, "model=big err=\"draft model " + other + ": its vocabulary"},
		{"a recurrent one", library.Launch{Path: large, Draft: mamba}, false, "cannot be cut back"},
		{"for a recurrent one", library.Launch{Path: mamba, Draft: small}, false, "cannot check what it guesses"},
		{"one that is removed", library.Launch{Path: large, Draft: small + "x"}, false, "no such file"},
	} {
		var log bytes.Buffer
		got := Draft{}.CanDraft(slog.New(slog.NewTextHandler(&log, nil)))(tt.launch)
		if got != tt.want || (log.Len() > 0) != (tt.log != "") || !strings.Contains(log.String(), tt.log) {
			t.Errorf("%s: %v, want %v, and the log says %q, want %q", tt.name, got, tt.want, log.String(), tt.log)
		}
	}
}
