package diffusiontest

import (
	"bytes"
	"io"
	"math/rand/v2"

	"github.com/diglot/diglot/engine/safetensors"
	"github.com/diglot/diglot/internal/atomicfile"
)

// Write writes the model, with its text encoder, and its autoencoder. The files are
// the same in every run.
func Write(model, autoencoder string) error {
	for _, f := range []struct {
		path string
		fill func(*weights)
	}{{model, klein}, {autoencoder, tiny}} {
		w := &weights{random: rand.New(rand.NewPCG(11, 0))}
		f.fill(w)
		if err := atomicfile.Write(f.path, 0o644, w); err != nil {
			return err
		}
	}
	return nil
}

// weights are the tensors of a file.
type weights struct {
	random  *rand.Rand
	tensors []safetensors.Data
}

// WriteTo writes the file.
func (w *weights) WriteTo(out io.Writer) (int64, error) {
	var file bytes.Buffer
	if err := safetensors.Write(&file, w.tensors); err != nil {
		return 0, err
	}
	return file.WriteTo(out)
}
