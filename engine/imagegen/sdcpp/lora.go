//go:build (linux || darwin) && (amd64 || arm64)

package sdcpp

import (
	"context"
	"fmt"
	"image"

	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
)

// lorasOf are the LoRAs that change anything.
func lorasOf(o Options) []lora {
	var loras []lora
	for i, path := range o.Parts.LoRAs() {
		strength := 1.0
		if n := len(o.Strengths); n > 0 {
			strength = o.Strengths[min(i, n-1)]
		}
		if strength != 0 {
			loras = append(loras, lora{cString(path), strength})
		}
	}
	return loras
}

// tryLoRAs draws the smallest image with the LoRAs. The library applies them only
// then, and goes on without one that does not fit.
func (m *Model) tryLoRAs() error {
	if len(m.loras) == 0 {
		return nil
	}
	// The library ends the process for a LoRA whose shapes are not those of the model.
	m.options.Log.Info("trying the LoRAs; those of another model may end this process", "number", len(m.loras))
	side := diffusion.MinSide
	if _, err := m.Draw(context.Background(), imagegen.Job{Size: image.Pt(side, side), Steps: 1, Guidance: 1}); err != nil {
		return err
	}
	for _, l := range m.loras {
		if path := goString(l.path); !m.library.log.applies(path) {
			return unusable(fmt.Errorf("the LoRA %s changes nothing of this model", path))
		}
	}
	return nil
}
