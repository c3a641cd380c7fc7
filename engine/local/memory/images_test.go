package memory

import (
	"errors"
	"strings"
	"testing"
)

const mib = 1 << 20

// miniature is the image model of the tests.
var miniature = Images{Weights: 18 * mib, Pixels: 1 << 20, Most: 1 << 21, Tiny: true, Patch: 16, Heads: 1, Width: 128}

// TestImagesMeasured: stable-diffusion.cpp took this much at most, with its weights.
func TestImagesMeasured(t *testing.T) {
	for _, tt := range []struct {
		side     int
		measured int64 // in KiB
	}{{256, 232480}, {512, 624688}, {1024, 2105256}} {
		m := miniature
		m.Pixels, m.Most = tt.side*tt.side, tt.side*tt.side
		plan, err := FitImages(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, measured := float64(plan.Total()), float64(tt.measured<<10); got < measured || got > 1.4*measured {
			t.Errorf("%dx%d: %.0f bytes planned, %.0f measured", tt.side, tt.side, got, measured)
		}
	}
}

func TestFitImages(t *testing.T) {
	usual, err := FitImages(Images{Pixels: 1 << 20, Most: 1 << 20, Patch: 16}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		available int64
		pixels    int // 0: refused
	}{
		{"unknown memory", 0, 1 << 21},
		{"enough", 1 << 40, 1 << 21},
		{"half of the rest is just enough", usual.Total() + 2*decodePixel<<20, 1 << 21},
		{"a little less", usual.Total() + 2*decodePixel<<20 - 2, 1<<21 - pixelStep},
		{"no more than usual", usual.Total(), 1 << 20},
		{"too little", usual.Total() - 1, 0},
	} {
		plan, err := FitImages(Images{Pixels: 1 << 20, Most: 1 << 21, Patch: 16}, tt.available)
		var refused *DoesNotFit
		if errors.As(err, &refused) != (tt.pixels == 0) || plan.Pixels != tt.pixels {
			t.Errorf("%s: %d pixels, error %v; want %d", tt.name, plan.Pixels, err, tt.pixels)
		}
		if err == nil && tt.available > 0 && plan.Total() > tt.available {
			t.Errorf("%s: %d bytes are more than %d", tt.name, plan.Total(), tt.available)
		}
		if err != nil && !strings.Contains(err.Error(), "buffers") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestImagesOfManyTokens: in large images of a wide model a step takes more than
// decoding.
func TestImagesOfManyTokens(t *testing.T) {
	m := Images{Patch: 8, Heads: 8, Width: 320}
	const side = 1024
	tokens := int64(side/8*side/8 + textTokens)
	if got, scores := m.buffers(side*side), 8*4*tokens*tokens; got < scores || got > 2*scores {
		t.Errorf("%d bytes, of which %d are scores", got, scores)
	}
	m.Heads = 1 << 40 // a file may claim anything
	if got := m.buffers(1 << 30); got < 0 {
		t.Errorf("%d bytes", got)
	}
}
