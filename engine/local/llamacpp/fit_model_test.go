//go:build llamacpp && cgo && linux

package llamacpp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/memory"
)

// TestFit opens a model with so much memory: it has the context that fits, or
// is refused with what would.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name      string
		available int64
		options   Options
		context   int
		refusal   string
	}{
		{"enough", 4e9, Options{}, 8192, ""},
		{"as asked", 4e9, Options{Context: 1000}, 1000, ""},
		{"enough for a part of it", 410e6, Options{Parallel: 1}, 4096, ""},
		{"too little for what was asked", 310e6, Options{Context: 8192, Parallel: 1}, 0, "A context of 4096 tokens would fit."},
		{"too little for anything", 50e6, Options{}, 0, "No smaller context"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.options.Path = modelFile(t, smallest)
			tt.options.Available = func() (int64, error) { return tt.available, nil }
			m, err := Open(t.Context(), tt.options)
			if err == nil {
				defer m.Close()
			}
			var coded *engine.Error
			if tt.refusal != "" {
				if !errors.As(err, &coded) || coded.Code != engine.CodeUnsupported || !coded.NoRetry ||
					!strings.Contains(coded.Message, tt.refusal) || strings.Contains(coded.Message, "/") {
					t.Errorf("error %v, want one with %q", err, tt.refusal)
				}
				return
			}
			if err != nil || m.Info().Context != tt.context {
				t.Errorf("context %d, %v; want %d", m.Info().Context, err, tt.context)
			}
		})
	}
}

// measureVariable names the context, in tokens, that TestMeasure has to fill.
const measureVariable = "DIGLOT_TEST_MEASURE"

// TestEstimate holds the estimate against a process that has read a prompt as
// long as its context, and has scored another one.
func TestEstimate(t *testing.T) {
	for _, context := range []int{512, 1280} {
		var out bytes.Buffer
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMeasure$", "-test.v")
		child.Env = append(os.Environ(), measureVariable+"="+strconv.Itoa(context))
		child.Stdout, child.Stderr = &out, &out
		if err := child.Run(); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		_, number, _ := strings.Cut(out.String(), "resident: ")
		resident, err := strconv.ParseInt(strings.Fields(number + " ?")[0], 10, 64)
		if err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		plan, err := memory.Estimate(memory.Files{Model: modelFile(t, smallest)}, memory.Options{Context: context, Parallel: 1, Threads: DefaultThreads()})
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(plan.Total()) / float64(resident)
		t.Logf("context %d: %d MB estimated, %d MB taken", context, plan.Total()/1e6, resident/1e6)
		if ratio < 0.95 || ratio > 1.25 {
			t.Errorf("context %d: the estimate is %.2f of the truth: %+v", context, ratio, plan)
		}
	}
}

// TestMeasure is the process of TestEstimate, and nothing without it.
func TestMeasure(t *testing.T) {
	context, err := strconv.Atoi(os.Getenv(measureVariable))
	if err != nil {
		return
	}
	m := openModel(t, Options{Context: context, Parallel: 1})
	random := rand.New(rand.NewPCG(1, 2))
	prompt := make([]int32, context-8)
	for i := range prompt {
		prompt[i] = int32(300 + random.IntN(48_000))
	}
	if _, err := answerOf(t.Context(), m, greedy(prompt, 4)); err != nil {
		t.Fatal(err)
	}
	one := 1
	if _, err := m.Score(t.Context(), chat.Job{Prompt: prompt[:100], Logprobs: &one}); err != nil {
		t.Fatal(err)
	}
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(statm))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("resident: %d", pages*int64(os.Getpagesize()))
}
