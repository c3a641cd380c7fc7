//go:build imagegen

package sdcpp

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
)

// TestPromptLimits counts with the tokenizers of the library. A cat is one token.
func TestPromptLimits(t *testing.T) {
	l := library(t)
	cats := func(n int) string { return strings.TrimSpace(strings.Repeat("cat ", n)) }
	for _, tt := range []struct {
		name, family     string
		prompt, negative string
		want             string // of the error; empty: none
	}{
		{"SD3 takes 75 tokens", "Stable Diffusion 3", cats(75), cats(75), ""},
		{"and no more", "Stable Diffusion 3", cats(76), "", "The prompt has 76 tokens. The text encoders of this model take 75."},
		{"nor a longer negative prompt", "Stable Diffusion 3", "cat", cats(80), "The negative prompt has 80 tokens."},
		{"weights are no tokens", "Stable Diffusion 3", "(" + cats(74) + ":1.5) cat", "", ""},
		{"SD in chunks", "Stable Diffusion", cats(200), cats(200), ""},
		{"FLUX without T5", "FLUX", cats(76), "", "76 tokens"},
		{"a language model", "FLUX.2 klein", cats(1000), "", ""},
		{"no text", "Stable Diffusion 3", "", "", ""},
		{"an end in the middle", "Stable Diffusion", "a\x00b", "", "The prompt has a NUL character."},
	} {
		m := &Model{library: l, options: Options{Parts: diffusion.Model{Family: diffusion.Family{Name: tt.family}}}}
		err := m.Check(imagegen.Job{Prompt: tt.prompt, NegativePrompt: tt.negative})
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: error %v", tt.name, err)
			}
			continue
		}
		if e := engine.AsError(err); err == nil || e.Code != engine.CodeInvalidArgument || e.Place.Field != engine.FieldPrompt || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

// TestTokensOfT5: T5 has other tokens than CLIP.
func TestTokensOfT5(t *testing.T) {
	m := &Model{library: library(t)}
	const text = "antidisestablishmentarianism in Reykjavik"
	clip, t5 := m.longest(text, diffusion.Limit{Clip: true}), m.longest(text, diffusion.Limit{T5: true})
	if clip == 0 || t5 == 0 || clip == t5 || m.longest(text, diffusion.Limit{Clip: true, T5: true}) != max(clip, t5) {
		t.Errorf("%d tokens of CLIP, %d of T5", clip, t5)
	}
}

// TestCores: the number of threads may change from step to step, and the image is the
// same.
func TestCores(t *testing.T) {
	parts := miniature(t)
	want := draw(t, load(t, parts), loraJob)
	asked := 0
	m, err := library(t).Load(Options{Name: "m", Parts: parts, Threads: 2, Log: slog.New(slog.DiscardHandler), Cores: func() int {
		asked++
		return 1 + asked%2
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	defer m.library.limit(0)
	job := loraJob
	if got := draw(t, m, job); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("another image with other numbers of threads")
	}
	if asked < job.Steps+1 {
		t.Errorf("asked %d times for %d steps", asked, job.Steps)
	}
}
