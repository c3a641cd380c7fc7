// Command projector makes a text model see colours, for tests:
//
//	go run ./tools/projector MODEL.gguf PROJECTOR.gguf
//
// No vision model is small enough to fetch for a test. So this writes a projector
// (mmproj file) with hand-made weights for any text model. It classifies the
// average colour of each quarter of an image as one of eight colours, and outputs
// the token embedding of that colour's word, such as "red". llama.cpp loads and
// runs it like any other projector, and the model names the colours.
package main

import (
	"fmt"
	"os"

	"github.com/diglot/diglot/internal/atomicfile"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: projector MODEL.gguf PROJECTOR.gguf")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "projector:", err)
		os.Exit(1)
	}
}

// run writes the file atomically.
func run(model, projector string) error {
	text, err := openText(model)
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	defer text.Close()
	file, err := colours(text)
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	return atomicfile.Write(projector, 0o600, file)
}
