package diffusiontest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/engine/diffusion"
)

func TestHalf(t *testing.T) {
	for _, tt := range []struct {
		value float64
		want  uint16
	}{
		{0, 0}, {1, 0x3c00}, {-2, 0xc000}, {0.5, 0x3800}, {65504, 0x7bff}, {1e9, 0x7bff},
		{math.Ldexp(1, -24), 1}, {math.Ldexp(1, -14), 0x0400}, {math.Ldexp(1023, -24), 0x03ff},
		{1 + math.Ldexp(1, -11), 0x3c00}, {1 + math.Ldexp(3, -11), 0x3c02}, {2 - math.Ldexp(1, -12), 0x4000},
		{-math.Ldexp(1, -25), 0x8000},
	} {
		if got := half(tt.value); got != tt.want {
			t.Errorf("half(%g) = %#04x, want %#04x", tt.value, got, tt.want)
		}
	}
}

// TestFiles: the files are recognised for what they are, and are the same each time.
func TestFiles(t *testing.T) {
	var sums [2][3][]byte
	for n := range sums {
		dir := t.TempDir()
		model, autoencoder, lora := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		if err := errors.Join(Write(model, autoencoder), WriteLoRA(lora)); err != nil {
			t.Fatal(err)
		}
		m, err := diffusion.Open([]string{model, autoencoder, lora})
		if err != nil {
			t.Fatal(err)
		}
		if m.Family.Name != "FLUX.2 klein" || m.Path(diffusion.Whole) != model || m.Path(diffusion.TAE) != autoencoder || m.Path(diffusion.LoRA) != lora || m.Size() > 20<<20 {
			t.Errorf("recognised as %+v of %d bytes", m, m.Size())
		}
		for i, path := range []string{model, autoencoder, lora} {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(data)
			sums[n][i] = sum[:]
		}
	}
	for i := range sums[0] {
		if !bytes.Equal(sums[0][i], sums[1][i]) {
			t.Errorf("file %d differs between two runs", i)
		}
	}
}
