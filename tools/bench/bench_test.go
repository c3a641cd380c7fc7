package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/report"
	"github.com/diglot/diglot/tools/internal/peer"
)

// buildDiglot compiles the server without local models, and writes a script for it with a
// reply of more tokens than any workload asks for.
func buildDiglot(t *testing.T) (program, script string) {
	t.Helper()
	folder := t.TempDir()
	program, script = filepath.Join(folder, "diglot"), filepath.Join(folder, "script.yaml")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/diglot")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	text, err := os.ReadFile("testdata/script.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("PIECES"), []byte(`"Once"`+strings.Repeat(`, " word"`, 200)), 1)
	if err := os.WriteFile(script, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return program, script
}

// TestRun runs everything over diglot playing a script, and reads the report.
func TestRun(t *testing.T) {
	program, script := buildDiglot(t)
	out := filepath.Join(t.TempDir(), "bench")
	c, err := parse([]string{"--model", "scripted=" + script, "--servers", "diglot", "--program", "diglot=" + program,
		"--rounds", "1", "--ceilings=false", "--out", out, "--tokens", "16"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := run(t.Context(), c, &log); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	results, err := report.Read(out)
	if err != nil || len(results.Models) != 1 {
		t.Fatalf("%d models, error %v", len(results.Models), err)
	}
	measured := map[string]int{}
	for _, f := range results.Models[0].Figures {
		if f.Summary.Rounds != 1 || f.Incomplete > 0 || f.Summary.Median < 0 || f.Note != "" {
			t.Errorf("%s, %s: %+v", f.Workload, f.Metric.Name, f)
		}
		measured[f.Workload]++
	}
	for _, w := range workloads(c) {
		if len(w.servers) == 0 && measured[w.name] != len(w.metrics) {
			t.Errorf("%s has %d figures, not %d; the run said\n%s", w.name, measured[w.name], len(w.metrics), &log)
		}
	}
	page, err := os.ReadFile(filepath.Join(out, "README.md"))
	if err != nil || !strings.Contains(string(page), "| first-4096 | rate, tokens/s |") {
		t.Errorf("error %v; the page is\n%s", err, page)
	}
	if plots, err := filepath.Glob(filepath.Join(out, "*.svg")); err != nil || len(plots) != len(measured) {
		t.Errorf("plots %v, error %v", plots, err)
	}
}

// TestGateway has diglot in front of a server.
func TestGateway(t *testing.T) {
	program, script := buildDiglot(t)
	c := config{programs: map[string]string{"diglot": program}, settings: report.Settings{Context: 1000, Parallel: 8, Threads: 1}}
	own, err := find(t.Context(), kinds[0], c, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := openModel("scripted", script, 1)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := own.run(t.Context(), m, c.settings)
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.stop()
	front, err := own.behind(t.Context(), upstream, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer front.stop()
	v, err := throughGateway(16, 1)(t.Context(), front, m, "gateway")
	if err != nil || front.name != gatewayName || v["first"] <= 0 || v["rate"] <= 0 || v["streams"] <= 0 {
		t.Errorf("%v, error %v", v, err)
	}
}

// odd is a server whose replies are short every other time, or an error.
func odd(t *testing.T, reply func(w http.ResponseWriter, n int)) *target {
	n := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		reply(w, n)
	}))
	t.Cleanup(front.Close)
	p, err := peer.Start(t.Context(), peer.Command{Name: "odd", Program: "sleep", Args: []string{"600"}, Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return &target{name: "odd", client: ask.Client{URL: front.URL, HTTP: front.Client()}, process: p}
}

// TestRoundsOfOddServers holds that short replies are asked again and counted, and that a
// server which fails does not end the run.
func TestRoundsOfOddServers(t *testing.T) {
	const complete = `data: {"choices":[{"text":"a"},{"text":"b","finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n"
	short := odd(t, func(w http.ResponseWriter, n int) {
		if n%2 == 1 {
			w.Write([]byte(strings.Replace(complete, `_tokens":2`, `_tokens":1`, 1)))
			return
		}
		w.Write([]byte(complete))
	})
	failing := odd(t, func(w http.ResponseWriter, n int) { http.Error(w, "no", http.StatusInternalServerError) })
	m, err := openModel("scripted", "testdata/script.yaml", 1)
	if err != nil {
		t.Fatal(err)
	}
	targets := []*target{short, failing}
	b := &comparison{config: config{timeout: time.Minute, settings: report.Settings{Rounds: 2}}, log: &bytes.Buffer{}}
	w := workload{name: "w", metrics: []report.Metric{lower("time", "ms")}}
	figures, err := b.rounds(t.Context(), w, m, []string{"short", "failing"}, func(ctx context.Context, i int, key string) (values, error) {
		r, err := completion(ctx, targets[i], m, "prompt", 2, key)
		return values{"time": milliseconds(r.End)}, err
	})
	if err != nil || len(figures) != 2 {
		t.Fatalf("%d figures, error %v", len(figures), err)
	}
	if f := figures[0]; f.Summary.Rounds != 2 || f.Incomplete != 3 || f.Note != "" {
		t.Errorf("short: %+v", f)
	}
	if f := figures[1]; f.Summary.Rounds != 0 || !strings.Contains(f.Note, "status 500") {
		t.Errorf("failing: %+v", f)
	}
}

func TestParse(t *testing.T) {
	c, err := parse([]string{"--model", "a=b.gguf", "--servers", "diglot,ollama", "--workloads", "decode first-16", "--args", "ik_llama.cpp=-rtr -fa on"}, io.Discard)
	if err != nil || !slices.Equal(c.workloads, []string{"decode", "first-16"}) || !slices.Equal(c.servers, []string{"diglot", "ollama"}) {
		t.Errorf("%+v, error %v", c, err)
	}
	if diff := cmp.Diff([]string{"-rtr", "-fa", "on"}, c.args["ik_llama.cpp"]); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	for _, args := range []string{"", "--model a", "--model a=b --servers vllm", "--model a=b --workloads dance", "--model a=b --rounds 0", "--model a=b --program vllm=x"} {
		if _, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

func TestDefaultFolder(t *testing.T) {
	for args, want := range map[string]string{
		"--model a=b":                          "bench",
		"--show":                               "bench",
		"--model a=b --servers diglot":         ".cache/bench",
		"--model a=b --workloads decode":       ".cache/bench",
		"--model a=b --servers diglot --out x": "x",
	} {
		if c, err := parse(strings.Fields(args), io.Discard); err != nil || c.out != want {
			t.Errorf("%q: %q, error %v; want %q", args, c.out, err, want)
		}
	}
}

func TestList(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), config{list: true}, &out); err != nil || !strings.Contains(out.String(), "first-4096 ") {
		t.Errorf("error %v:\n%s", err, &out)
	}
}

func TestDescribeCommand(t *testing.T) {
	m := model{name: "tiny", file: "/home/someone/tiny.gguf"}
	for i, want := range map[int]string{
		0: "diglot serve --listen ... --socket none --drain 0s --threads 2 --context 4096 --parallel 8 --keep-alive forever --load NAME --model NAME=FILE",
		1: "llama-server --host ... --port ... --parallel 8 --threads 2 --model FILE --alias NAME --jinja --kv-unified --ctx-size 16384",
	} {
		args, _ := kinds[i].command(m, report.Settings{Threads: 2, Context: 4096, Parallel: 8}, "127.0.0.1:4321", "/tmp/home")
		if got := describeCommand(kinds[i].Name, args, "127.0.0.1:4321", m); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestCopied(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
	}{{"the old mill", 1}, {"by the old mill stood", 1.0 / 3}, {"nothing of it", 0}, {"mill", 0}} {
		if got := copied(tt.text, "at the old mill by the river"); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.text, got, tt.want)
		}
	}
}

func TestLoadAverages(t *testing.T) {
	if got := loadAverages(); runtime.GOOS == "linux" && len(strings.Fields(got)) != 3 {
		t.Errorf("load averages %q", got)
	}
}
