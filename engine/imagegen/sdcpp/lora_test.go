//go:build imagegen

package sdcpp

import (
	"bytes"
	"errors"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
	"github.com/diglot/diglot/engine/safetensors"
)

// loraJob is what the images with and without a LoRA are of.
var loraJob = imagegen.Job{Prompt: "a red house", Size: image.Pt(64, 64), Seed: 42, Steps: 2, Guidance: 1}

// adapted is the miniature with LoRAs.
func adapted(t *testing.T, paths ...string) diffusion.Model {
	t.Helper()
	m := miniature(t)
	for _, path := range paths {
		p, err := diffusion.Inspect(path)
		if err != nil {
			t.Fatal(err)
		}
		m.Parts = append(m.Parts, p)
	}
	return m
}

// TestLoRA: a LoRA changes the image as with the engine's own command line, again and
// again, and with a strength of 0 not at all.
func TestLoRA(t *testing.T) {
	path := built(t)
	parts := miniature(t)
	plain := draw(t, load(t, parts), loraJob)
	file := filepath.Join(folder, "lora.safetensors")
	seen := map[string]bool{string(plain.Pix): true}
	for _, tt := range []struct {
		name      string
		strengths []float64
		prompt    string // for the command line; empty: it is not compared
	}{
		{"its own strength", nil, ""},
		{"negative", []float64{-0.5}, "<lora:lora:-0.5>"},
	} {
		m := load(t, adapted(t, file), tt.strengths...)
		drawn := draw(t, m, loraJob)
		job := loraJob
		job.Prompt += tt.prompt
		if tt.prompt != "" && !bytes.Equal(drawn.Pix, commandLine(t, path, parts, job, "--lora-model-dir", folder).Pix) {
			t.Errorf("%s: the engine's command line draws another image", tt.name)
		}
		if seen[string(drawn.Pix)] {
			t.Errorf("%s: the image of another strength", tt.name)
		}
		seen[string(drawn.Pix)] = true
		if !bytes.Equal(draw(t, m, loraJob).Pix, drawn.Pix) {
			t.Errorf("%s: the second image differs", tt.name)
		}
	}
	if off := draw(t, load(t, adapted(t, file), 0), loraJob); !bytes.Equal(off.Pix, plain.Pix) {
		t.Error("a strength of 0 changes the image")
	}
	if one := draw(t, load(t, adapted(t, file, file), -0.5, 0), loraJob); !seen[string(one.Pix)] {
		t.Error("of two LoRAs the second has no strength of its own")
	}
}

// TestLoRAOfAnotherModel: a file that changes nothing is an error of the load.
func TestLoRAOfAnotherModel(t *testing.T) {
	var out bytes.Buffer
	if err := safetensors.Write(&out, []safetensors.Data{
		{Name: "diffusion_model.double_blocks.7.img_attn.qkv.lora_A.weight", Type: "F32", Shape: []int64{1, 128}, Bytes: make([]byte, 512)},
		{Name: "diffusion_model.double_blocks.7.img_attn.qkv.lora_B.weight", Type: "F32", Shape: []int64{384, 1}, Bytes: make([]byte, 1536)},
	}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lora")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := library(t).Load(Options{Name: "m", Parts: adapted(t, path), Threads: 1, Log: slog.New(slog.DiscardHandler)})
	if e := engine.AsError(err); err == nil || e.Code != engine.CodeUnsupported || !strings.Contains(errors.Unwrap(e).Error(), "changes nothing") {
		t.Errorf("error %v", err)
	}
}
