package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// TestChanges: the flags that the changes of a model make give the same ones
// when they are read.
func TestChanges(t *testing.T) {
	for _, want := range []changes{
		{},
		{template: "t=1.gotmpl"},
		{template: "t", adapters: list{"a,b.gguf", "--c.gguf"}},
	} {
		var got changes
		c := newRunner(environment{})
		c.ResetFlags()
		got.register(c.Flags())
		if err := c.Flags().Parse(want.args()); err != nil {
			t.Errorf("%v: %v", want.args(), err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(changes{})); diff != "" {
			t.Errorf("%v (-want +got):\n%s", want.args(), diff)
		}
	}
}

// TestTemplateFile: a template that cannot be used ends the runner before it
// loads the model, which does not exist here.
func TestTemplateFile(t *testing.T) {
	for _, tt := range []struct{ name, path, want string }{
		{"none", t.TempDir() + "/none", "no such file"},
		{"empty", write(t, "empty", " \n"), "is empty"},
		{"long", write(t, "long", strings.Repeat("x", maxTemplate+1)), "more than 1048576 bytes"},
	} {
		_, _, stderr := execute(t.Context(), "runner", "--model", "m=none.gguf", "--template", tt.path)
		if !strings.Contains(stderr, tt.want) || !strings.Contains(stderr, tt.path) {
			t.Errorf("%s: %q, want %q and the path in it", tt.name, stderr, tt.want)
		}
	}
	got, err := changes{template: write(t, "right", "{{ .Prompt }}\n")}.source()
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

// TestVariablesOfRunner: what is in the environment of a server is not for the
// processes of models, but for a short list, and no crash starts a debugger.
func TestVariablesOfRunner(t *testing.T) {
	all := map[string]string{
		"AWS_SECRET_ACCESS_KEY": "a", "OPENAI_API_KEY": "b", "DIGLOT_API_KEY": "c", "HOME": "/home/d", "PATH": "/bin", "SSH_AUTH_SOCK": "/e",
		"TZ": "Europe/Berlin", "GODEBUG": "", "GOMAXPROCS": "2",
	}
	got := variablesOfRunner(environment{getenv: func(name string) string { return all[name] }})
	if diff := cmp.Diff([]string{"GGML_NO_BACKTRACE=1", "GOMAXPROCS=2", "TZ=Europe/Berlin"}, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}
