package memory

import (
	"fmt"
	"strings"

	"github.com/docker/go-units"
)

// DoesNotFit is the error of a model that needs more memory than is available. It
// says what would fit, and its text may be shown to clients.
type DoesNotFit struct {
	Plan      Plan  // what was needed
	Available int64 // bytes

	// Context is the largest that fits, in tokens; 0: none.
	Context int

	// Quantization would fit if no context does; empty: none of the usual ones.
	// Needs is about how many bytes it takes.
	Quantization string
	Needs        int64

	Image bool // an image model, which has no context
}

func (e *DoesNotFit) Error() string {
	if e.Image {
		return e.imageText()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The model needs %s of memory (weights %s, KV cache %s for %d tokens, buffers %s), and %s are free.",
		size(e.Plan.Total()), size(e.Plan.Weights), size(e.Plan.Cache), max(e.Plan.Cells, e.Plan.Context), size(e.Plan.Buffers), size(e.Available))
	switch {
	case e.Context > 0:
		fmt.Fprintf(&b, " A context of %d tokens would fit.", e.Context)
	case e.Quantization != "":
		fmt.Fprintf(&b, " Quantized to %s it would need about %s and fit.", e.Quantization, size(e.Needs))
	default:
		b.WriteString(" No smaller context or quantization of it would fit.")
	}
	return b.String()
}

// size formats bytes.
func size(n int64) string {
	return units.CustomSize("%.1f %s", float64(max(n, 0)), 1000, []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"})
}

func (m *model) refuse(plan Plan, available int64) *DoesNotFit {
	e := &DoesNotFit{Plan: plan, Available: max(available, 0)}
	if cells := m.cellsFor(available - m.fixed()); cells > 0 && !m.embedsOnly {
		e.Context = min(cells, plan.Context)
		return e
	}
	e.Quantization, e.Needs = m.smallerQuantization(plan, available)
	return e
}

// quantizations are the usual ones, with the bits per weight of an 8B model in the
// documentation of llama-quantize.
var quantizations = []struct {
	name string
	bits float64
}{
	{"Q8_0", 8.50}, {"Q6_K", 6.56}, {"Q5_K_M", 5.70}, {"Q4_K_M", 4.89}, {"Q3_K_M", 4.00}, {"Q2_K", 3.16},
}

// smallerQuantization finds the best quantization that would fit with the minimum
// useful context, and the bytes it needs.
func (m *model) smallerQuantization(plan Plan, available int64) (name string, needs int64) {
	least := min(roundUp(plan.Context), defaultCells)
	for _, q := range quantizations {
		weights := int64(float64(m.file.Parameters()) * q.bits / 8)
		needs := m.plan(least, least).Total() - bytesOf(m.file) + weights
		if weights < bytesOf(m.file) && needs <= available {
			return q.name, needs
		}
	}
	return "", 0
}
