package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/process"
	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	"github.com/diglot/diglot/engine/local/llamacpp"
)

// execute runs a command line that ends by itself, and returns what it prints.
// One that does not, such as one that serves, is given up after a while.
func execute(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var out, errors bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, args, environment{stdin: strings.NewReader(""), stdout: &out, stderr: &errors, getenv: func(string) string { return "" }})
	}()
	select {
	case status := <-ended:
		return status, out.String(), errors.String()
	case <-ctx.Done():
		return -1, "", "it does not end by itself"
	}
}

// write makes a file for one test.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandLines(t *testing.T) {
	good := write(t, "good.yaml", "models: {m: {replies: [{pieces: [hello]}]}}")
	twice := write(t, "twice.yaml", "models: {m: {replies: [{pieces: []}]}, n: {replies: [{pieces: []}]}, 'm:latest': {replies: [{pieces: []}]}}")
	bad := write(t, "bad.yaml", "models:\n  m: {replies: [{peaces: [hello]}]}")
	notGGUF := write(t, "not.gguf", "GIF89a and more")
	missing := filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct {
		name   string
		args   []string
		status int
		want   string // in what is printed
	}{
		{"no command", nil, 2, "missing command"},
		{"unknown command", []string{"sreve"}, 2, `unknown command "sreve"`},
		{"unknown command, and near", []string{"serv"}, 2, `did you mean "diglot serve"?`},
		{"a name of another program", []string{"rmi"}, 2, `did you mean "diglot rm"?`},
		{"another name of list", []string{"images"}, 2, `did you mean "diglot list"?`},
		{"another name of cp", []string{"tag", "a", "b"}, 2, `did you mean "diglot cp"?`},
		{"unknown flag of the program", []string{"--speed"}, 2, "diglot: unknown flag: --speed; see \"diglot --help\""},
		{"help", []string{"help"}, 0, "Usage:"},
		{"help on a command", []string{"help", "serve"}, 0, "      --allow-host NAME "},
		{"help on a command of a command", []string{"help", "completion", "bash"}, 0, "bash"},
		{"help on nothing", []string{"help", "nothing"}, 2, `unknown command "nothing"`},
		{"help on more than there is", []string{"help", "serve", "more"}, 2, `diglot serve has no command "more"`},
		{"a letter left out", []string{"lst"}, 2, `did you mean "diglot list" or`},
		{"help by a flag", []string{"--help"}, 0, "Usage:"},
		{"help on statuses", []string{"help", "exit-codes"}, 0, "model not found"},
		{"help on the environment", []string{"help", "environment"}, 0, "DIGLOT_MODELS"},
		{"completion", []string{"completion", "bash"}, 0, "diglot"},
		{"completion for no shell", []string{"completion"}, 2, "requires a shell: bash, fish"},
		{"completion for another shell", []string{"completion", "nosh"}, 2, `completion: unsupported shell "nosh"; want one of bash`},
		{"help of serve", []string{"serve", "--help"}, 0, "      --allow-host NAME "},
		{"version", []string{"version"}, 0, "built with go1."},
		{"version by a flag", []string{"--version"}, 0, "built with go1."},
		{"version by a letter", []string{"-v"}, 0, "built with go1."},
		{"version with more", []string{"version", "x"}, 2, `unexpected argument "x"`},
		{"unknown flag", []string{"serve", "--speed", "9"}, 2, "unknown flag: --speed"},
		{"argument", []string{"serve", "--script", good, "x"}, 2, `unexpected argument "x"`},
		{"nothing to serve", []string{"serve"}, 2, "nothing to serve: none of DIGLOT_MODELS, DIGLOT_HOME and HOME is set"},
		{"keep-alive", []string{"serve", "--keep-alive", "5"}, 2, "want a time such as 30m or 1h30m, from 0 to 8760h, or forever"},
		{"max-memory", []string{"serve", "--max-memory", "much"}, 2, "want a size such as 12GB or 900MiB"},
		{"max-memory without a unit", []string{"serve", "--max-memory", "12"}, 2, "want a size such as 12GB or 900MiB, from 1MiB to 1PiB"},
		{"load what nobody has", []string{"serve", "--script", good, "--load", "n"}, 3, `--load: The model "n" does not exist`},
		{"model without a name", []string{"serve", "--model", "a.gguf"}, 2, "want NAME=FILE"},
		{"model without a file", []string{"serve", "--model", "a="}, 2, "want NAME=FILE"},
		{"profile", []string{"serve", "--script", good, "--profile", "lax"}, 2, `--profile is "lax"`},
		{"listen", []string{"serve", "--script", good, "--listen", "8484"}, 2, `--listen is "8484", not HOST:PORT`},
		{"origin without a scheme", []string{"serve", "--script", good, "--allow-origin", "o.example"}, 2, `--allow-origin is "o.example", not SCHEME://HOST[:PORT] or *`},
		{"origin with a path", []string{"serve", "--script", good, "--allow-origin", "https://o.example/"}, 2, `--allow-origin is "https://o.example/"`},
		{"origin in capitals", []string{"serve", "--script", good, "--allow-origin", "https://O.example"}, 2, `--allow-origin is "https://O.example"`},
		{"host with a port", []string{"serve", "--script", good, "--allow-host", "box.lan:80"}, 2, `--allow-host is "box.lan:80", not a name without scheme and port`},
		{"host with a blank", []string{"serve", "--script", good, "--allow-host", "a b"}, 2, `--allow-host is "a b"`},
		{"hosts in one", []string{"serve", "--script", good, "--allow-host", "a,b"}, 2, `--allow-host is "a,b"`},
		{"host in quotes", []string{"serve", "--script", good, "--allow-host", `"a"`}, 2, `--allow-host is "\"a\""`},
		{"host with a line end", []string{"serve", "--script", good, "--allow-host", "a\n"}, 2, `--allow-host is "a\n"`},
		{"host of images with a blank", []string{"serve", "--script", good, "--allow-image-host", " a"}, 2, `--allow-image-host is " a"`},
		{"host of images with a line end", []string{"serve", "--script", good, "--allow-image-host", "a\r"}, 2, `--allow-image-host is "a\r"`},
		{"host of images with a port", []string{"serve", "--script", good, "--allow-image-host", "a:80"}, 2, `--allow-image-host is "a:80"`},
		{"origin with a blank", []string{"serve", "--script", good, "--allow-origin", "https://o.example "}, 2, `--allow-origin is "https://o.example "`},
		{"origin with a port that is none", []string{"serve", "--script", good, "--allow-origin", "https://o.example:x"}, 2, `--allow-origin is "https://o.example:x"`},
		{"origin with a user", []string{"serve", "--script", good, "--allow-origin", "https://a@o.example"}, 2, `--allow-origin is "https://a@o.example"`},
		{"listen with a blank", []string{"serve", "--script", good, "--listen", " 127.0.0.1:0"}, 2, `--listen is " 127.0.0.1:0"`},
		{"host with a scheme", []string{"serve", "--script", good, "--allow-host", "http://box.lan"}, 2, `--allow-host is "http://box.lan"`},
		{"threads", []string{"serve", "--script", good, "--threads", "0"}, 2, "--threads\" flag: want a whole number from 1 to 1024"},
		{"very many threads", []string{"serve", "--script", good, "--threads", "100000"}, 2, "--threads\" flag: want a whole number from 1 to 1024"},
		{"parallel", []string{"serve", "--script", good, "--parallel", "-1"}, 2, "want a whole number from 1 to 64"},
		{"context", []string{"serve", "--script", good, "--context", "4k"}, 2, "want a whole number from 1 to 16777216"},
		{"empty key", []string{"serve", "--script", good, "--api-key", ""}, 2, "empty value"},
		{"missing script", []string{"serve", "--script", missing}, 1, "no such file"},
		{"broken script", []string{"serve", "--script", bad}, 1, `bad.yaml: line 2: unknown key "peaces"`},
		{"trace in a missing directory", []string{"serve", "--script", good, "--trace", filepath.Join(missing, "t")}, 1, "no such file"},
		{"no such port", []string{"serve", "--script", good, "--listen", "127.0.0.1:99999"}, 1, "invalid port"},
		{"missing model", []string{"serve", "--model", "m=" + missing}, 1, `model "m"`},
		{"broken model", []string{"serve", "--model", "m=" + notGGUF}, 1, `model "m"`},
		{"model named twice", []string{"serve", "--script", twice}, 1, `twice.yaml: line 1: duplicate model "m:latest"`},
		{"runner by hand", []string{"runner"}, 2, "this command is started by diglot serve"},
	} {
		t.Run(tt.name, func(t *testing.T) { checkCommandLine(t, tt.args, tt.status, tt.want) })
	}
}

// checkCommandLine holds what a command prints, and that errors are not on
// standard output.
func checkCommandLine(t *testing.T, args []string, wantStatus int, want string) {
	t.Helper()
	status, stdout, stderr := execute(t.Context(), args...)
	if status != wantStatus {
		t.Errorf("status %d, want %d", status, wantStatus)
	}
	if !strings.Contains(stdout+stderr, want) {
		t.Errorf("printed %q and %q, want %q", stdout, stderr, want)
	}
	if status != 0 && stdout != "" {
		t.Errorf("an error prints %q on standard output", stdout)
	}
}

func TestServeOptions(t *testing.T) {
	got := &serveOptions{}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	got.register(flags)
	err := flags.Parse([]string{
		"--listen", "localhost:1", "--model", "a=b=c.gguf,p.gguf", "--model", "d=e", "--script", "f",
		"--trace", "g", "--profile", "document", "--strict", "--threads", "2", "--parallel=3", "--context", "4", "--kernels", "ggml", "--draft", "none",
		"--api-key", "k", "--api-key", "l", "--allow-origin", "https://o:1", "--allow-origin", "null", "--allow-origin", "*", "--allow-host", "h", "--allow-image-host", "i",
		"--api-key-file", "keys", "--insecure-public", "--max-body", "2MiB", "--max-bodies", "90MiB", "--max-requests", "7",
		"--max-connections", "8", "--max-connections-per-address", "5", "--stall-timeout", "3s", "--drain", "0s",
		"--keep-alive", "90s", "--max-memory", "2GiB", "--load", "a", "--load", "d", "--socket", "s",
	})
	if err == nil {
		err = got.check()
	}
	if err != nil {
		t.Fatal(err)
	}
	want := &serveOptions{
		Options: serving.Options{
			Address: serving.Address{Listen: "localhost:1", Public: true},
			Profile: "document",
			Strict:  true,
			Keys:    serving.Keys{Fixed: flagvalue.List{"k", "l"}, File: "keys"},
			Bounds: serving.Bounds{
				Body: 2 << 20, Bodies: 90 << 20, Requests: 7, MaxConnections: 8, PerAddress: 5, Stall: 3 * time.Second,
			},
			Origins: flagvalue.List{"https://o:1", "null", "*"},
			Hosts:   flagvalue.List{"h"},
		},
		models:  process.Files{{Name: "a", Path: "b=c.gguf", Projector: "p.gguf"}, {Name: "d", Path: "e"}},
		script:  "f",
		limits:  process.Limits{Threads: 2, Parallel: 3, Context: 4, Kernels: process.Kernels(llamacpp.KernelsGGML), Draft: process.Draft{None: true}},
		library: libraryOptions{keepAlive: flagvalue.KeepAlive(90 * time.Second), memory: 2 << 30},
		load:    flagvalue.List{"a", "d"},
		socket:  "s",
		trace:   "g",
		images:  flagvalue.List{"i"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(serveOptions{}, libraryOptions{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	command := process.Command("p", got.models[0], got.limits)
	if diff := cmp.Diff([]string{"p", "runner", "--model", "a=b=c.gguf,p.gguf", "--threads", "2", "--parallel", "3", "--context", "4", "--kernels", "ggml", "--draft", "none"}, command); diff != "" {
		t.Errorf("command of the runner (-want +got):\n%s", diff)
	}
}

func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{
			"without llama.cpp",
			debug.BuildInfo{
				GoVersion: "go1.27",
				Main:      debug.Module{Version: "v1.2.3"},
				Deps:      []*debug.Module{{Path: "github.com/ollama/ollama", Version: "v0.17.4"}}, // for its other packages
				Settings:  []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "1"}},
			},
			"diglot v1.2.3\nbuilt with go1.27\nbuilt without llama.cpp: serves only scripts and remote models\n",
		},
		{
			"with llama.cpp, from a checkout",
			debug.BuildInfo{
				GoVersion: "go1.27",
				Main:      debug.Module{Version: "(devel)"},
				Deps:      []*debug.Module{{Path: "a", Version: "v1"}, {Path: "github.com/ollama/ollama", Version: "v0.17.4"}},
				Settings: []debug.BuildSetting{
					{Key: "-tags", Value: "x,llamacpp"}, {Key: "CGO_ENABLED", Value: "1"},
					{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"},
				},
			},
			"diglot (devel)\nrevision abc, modified\nbuilt with go1.27\nllama.cpp from github.com/ollama/ollama v0.17.4\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			printVersion(&out, &tt.info)
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrintVariant(t *testing.T) {
	for _, tt := range []struct {
		runs process.Program
		want string
	}{
		{process.Program{Path: "/bin/diglot"}, ""},
		{process.Program{Path: "/lib/d", Variant: "v3"}, "models run as v3: /lib/d\n"},
		{process.Program{Path: "/bin/diglot", Variant: "v1", Warning: "v3 is missing"}, "models run as v1: /bin/diglot\nwarning: v3 is missing\n"},
	} {
		var out bytes.Buffer
		if printVariant(&out, tt.runs); out.String() != tt.want {
			t.Errorf("%+v: %q, want %q", tt.runs, out.String(), tt.want)
		}
	}
}
