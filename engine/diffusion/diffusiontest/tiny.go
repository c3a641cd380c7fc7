package diffusiontest

import "strconv"

// Sizes of the tiny autoencoder for FLUX.2.
const (
	channels = 64
	coded    = 32 // channels of what it encodes to
	pooled   = 256
	stages   = 3
	blocks   = 3 // in each stage
)

// contrast keeps colours away from black and white.
const contrast = 0.15

// tiny is an autoencoder. The numbers in its names count layers without weights, too.
func tiny(w *weights) {
	layer := counter{prefix: "decoder.layers."}
	w.convolution(layer.next(), coded, channels, 3, 1)
	layer.skip()
	for stage := range stages {
		for range blocks {
			w.block(layer.next(), stage == 0)
		}
		layer.skip()
		w.kernel(layer.next(), channels, channels, 3, 1)
	}
	w.block(layer.next(), false)
	last := layer.next()
	w.kernel(last, channels, 3, 3, contrast)
	w.halves(last+".bias", []float64{0.5, 0.5, 0.5}, 3)

	layer = counter{prefix: "encoder.layers."}
	w.convolution(layer.next(), 3, channels, 3, 1)
	w.block(layer.next(), false)
	for stage := range stages {
		w.kernel(layer.next(), channels, channels, 3, 1)
		for range blocks {
			w.block(layer.next(), stage == stages-1)
		}
	}
	w.convolution(layer.next(), channels, coded, 3, 1)
}

// counter makes names of layers.
type counter struct {
	prefix string
	n      int
}

func (c *counter) next() string {
	name := c.prefix + strconv.Itoa(c.n)
	c.n++
	return name
}

func (c *counter) skip() { c.n++ }

// block has three convolutions, and possibly a pool.
func (w *weights) block(name string, pool bool) {
	for _, n := range []string{".conv.0", ".conv.2", ".conv.4"} {
		w.convolution(name+n, channels, channels, 3, 1)
	}
	if !pool {
		return
	}
	w.kernel(name+".pool.0", channels, pooled, 1, 1)
	w.ones(name+".pool.1.weight", pooled)
	w.constant(name+".pool.1.bias", 0, pooled)
	w.kernel(name+".pool.3", pooled, channels, 1, 1)
}
