package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/tools/bench/machine"
)

var (
	rate = Metric{Name: "rate", Unit: "tokens/s", Higher: true}
	cost = Metric{Name: "time", Unit: "ms"}
)

// example has a small and a large model, three servers of which one is absent, a reply
// that was not complete, and a server that failed.
func example() Results {
	missing := math.NaN()
	short := NewFigure("decode", "ollama", rate, []float64{40, missing, 60})
	short.Incomplete = 1
	failed := NewFigure("schema", "llama-server", rate, []float64{missing, missing, missing})
	failed.Note = "status 500"
	return Results{
		Date: "2026-12-01", System: "linux/amd64", CPU: "Some CPU", Cores: 2, Load: "0.1 0.2 0.3",
		Settings: Settings{Rounds: 3, Threads: 2, Context: 8192, Parallel: 8, Seed: 1},
		Ceilings: &machine.Ceilings{Threads: 2, Float: machine.Figure{PerSecond: 1e11, Instructions: "AVX2"}, Int8: machine.Figure{PerSecond: 4e11, Instructions: "AVX2"},
			Read: map[int64]machine.Figure{1e8: {PerSecond: 4e10, Instructions: "AVX2"}, 1e9: {PerSecond: 2e10, Instructions: "AVX2"}}},
		Servers: []Server{{"diglot", "v1", "diglot serve"}, {"llama-server", "v2", "llama-server"}, {"ollama", "v3", "ollama serve"}, {"ik_llama.cpp", "", ""}},
		Models: []Model{
			{Name: "small", Quantization: "Q4_1", Bytes: 1.1e8, Parameters: 135e6, ReadPerToken: 1e8, Multiplications: 1e8, AttentionFactor: 1000, Figures: []Figure{
				NewFigure("first-512", "diglot", cost, []float64{100, 110, 90}), NewFigure("first-512", "llama-server", cost, []float64{400, 440, 180}),
				NewFigure("first-512", "diglot", rate, []float64{1000, 1000, 1000}),
				NewFigure("decode", "diglot", rate, []float64{120, 130, 140}), NewFigure("decode", "llama-server", rate, []float64{100, 100, 100}), short,
				NewFigure("schema", "diglot", rate, []float64{100, 100, 100}), failed,
			}},
			{Name: "large", Quantization: "Q4_K_M", Bytes: 1.2e9, Parameters: 1.5e9, ReadPerToken: 1e9, Multiplications: 1e9, Figures: []Figure{
				NewFigure("decode", "diglot", rate, []float64{16, 16, 16}), NewFigure("decode", "llama-server", rate, []float64{16, 16, 16}),
			}},
		},
		Notes: []string{"A note."},
	}
}

func TestVerdicts(t *testing.T) {
	var got []string
	for _, v := range example().verdicts() {
		got = append(got, strings.Join([]string{v.model, v.about, v.against, v.wanted, v.measured, v.reached}, "; "))
	}
	want := []string{
		"large; decode, one stream; llama-server; >= 1.00; 1.00 (1.00 to 1.00); reached",
		"large; decode, one stream; ik_llama.cpp; >= 1.00; ; not measured",
		"large; decode, share of bandwidth; the machine; >= 85 %; 80 %; **not reached**",
		"small; first token, 512 tokens; llama-server; <= 0.30; 0.25 (0.25 to 0.38); reached",
		"small; first token, 512 tokens; ik_llama.cpp; <= 1.00; ; not measured",
		"small; decode, one stream; llama-server; >= 1.30; 1.30 (1.25 to 1.35); reached",
		"small; decode, one stream; ik_llama.cpp; >= 1.00; ; not measured",
		"small; schema output; llama-server; >= 1.50; ; not measured",
		"small; schema output; ik_llama.cpp; >= 1.20; ; not measured",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		quantization string
		parameters   int64
		first, rate  float64
	}{{"Q4_1", 135e6, 0.30, 1.30}, {"Q8_0", 500e6, 0.30, 1.20}, {"Q4_K_M", 1.5e9, 0.48, 1.00}} {
		m := Model{Quantization: tt.quantization, Parameters: tt.parameters}
		if first, rate := firstToken(m), decoding(m); first != tt.first || rate != tt.rate {
			t.Errorf("%s of %d parameters: %v and %v, want %v and %v", tt.quantization, tt.parameters, first, rate, tt.first, tt.rate)
		}
	}
}

// TestShare has shares that can be counted by hand.
func TestShare(t *testing.T) {
	r := example()
	small := r.Models[0]
	for _, tt := range []struct {
		workload string
		metric   Metric
		value    float64
		want     float64
	}{
		{"decode", rate, 200, 0.5},                               // 200 times 1e8 of 4e10 bytes
		{"first-512", rate, 1000, 1000 * (1e8 + 256e3) / 4e11},   // half of the tokens before, on average
		{"first-4096", rate, 1000, 1000 * (1e8 + 2048e3) / 4e11}, //
		{"decode", cost, 200, -1},
		{"schema", rate, 200, -1},
	} {
		got, ok := r.share(small, NewFigure(tt.workload, "diglot", tt.metric, []float64{tt.value}))
		if !ok {
			got = -1
		}
		if math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s, %s of %v: %v, want %v", tt.workload, tt.metric.Name, tt.value, got, tt.want)
		}
	}
	small.Quantization = "F16"
	if got := r.multiplications(small).PerSecond; got != 1e11 {
		t.Errorf("a model of floats has a ceiling of %v", got)
	}
	r.Ceilings = nil
	if _, ok := r.share(small, NewFigure("decode", "diglot", rate, []float64{1})); ok {
		t.Error("there is a share of nothing measured")
	}
}

func TestWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "bench")
	r := example()
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Some CPU, 2 cores, linux/amd64; load averages at the start: 0.1 0.2 0.3. Threads of each server: 2; context: 8192;",
		"| ik_llama.cpp | absent: not measured |  |\n\nA note.\n",
		"| multiplications of int8, in registers | 400.0 G | AVX2 |\n| reading 100 MB again and again | 40.0 GB | AVX2 |\n| reading 1000 MB",
		"| decode, one stream | small | llama-server | >= 1.30 | 1.30 (1.25 to 1.35) | reached |",
		"| workload | | diglot | llama-server | ollama |\n|---|---|---|---|---|\n",
		"| decode | rate, tokens/s | 130 (125 to 135), 32 % of the machine | 100 (100 to 100), 25 % of the machine | 50.0 (45.0 to 55.0), 12 % of the machine, 1 incomplete |",
		"| schema | rate, tokens/s | 100 (100 to 100) | none |  |",
		"- schema, llama-server: status 500\n",
		"![decode (higher is better)](decode.svg)\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	again, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("results.json (-written +read):\n%s", diff)
	}
	for _, name := range []string{"decode", "first-512", "schema"} {
		checkSVG(t, filepath.Join(folder, name+".svg"))
	}
}

// checkSVG reads a plot as XML and wants the names that it shows.
func checkSVG(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close()
	var text strings.Builder
	d := xml.NewDecoder(file)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
	for _, want := range []string{"small", "diglot", "is better"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%s lacks %q: it has %q", name, want, text.String())
		}
	}
}

// TestWriteAgain holds that plots of workloads that are not there any more go.
func TestWriteAgain(t *testing.T) {
	folder := t.TempDir()
	old := filepath.Join(folder, "old.svg")
	if err := os.WriteFile(old, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r := example()
	r.Ceilings, r.Models = nil, nil
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old plot is still there")
	}
	if page, err := os.ReadFile(filepath.Join(folder, "README.md")); err != nil || !strings.Contains(string(page), "Not measured.\n") || strings.Contains(string(page), "## Plots") {
		t.Errorf("error %v; the page is\n%s", err, page)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{1234.5: "1234", 99.96: "100.0", 12.34: "12.3", 1: "1.00", 0.056: "0.06"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
