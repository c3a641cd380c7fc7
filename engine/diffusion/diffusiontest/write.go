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
	if err := write(model, klein); err != nil {
		return err
	}
	return write(autoencoder, tiny)
}

// WriteLoRA writes a LoRA for the model, always the same one.
func WriteLoRA(path string) error { return write(path, lora) }

func write(path string, fill func(*weights)) error {
	w := &weights{random: rand.New(rand.NewPCG(11, 0))}
	fill(w)
	return atomicfile.Write(path, 0o644, w)
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
