package inspection

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// Recurrent reports whether a model's layers, or some of them, keep a state that a text
// cannot be cut back from.
func Recurrent(file *gguf.File) bool { return slices.Contains(recurrent(), file.Architecture()) }

func recurrent() []string {
	return []string{
		"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7",
		// Beside attention.
		"jamba", "falcon-h1", "plamo2", "granitehybrid", "lfm2", "lfm2moe", "nemotron_h", "nemotron_h_moe", "qwen3next",
	}
}
