// Command projector makes a text model see colours, for tests:
//
//	go run ./tools/projector MODEL.gguf PROJECTOR.gguf
//
// There is no vision model small enough to fetch for a test. So this writes
// a projector (what llama.cpp runs in front of a language model to read
// images) whose weights are worked out by hand, for any text model: it looks at
// the average colour of each quarter of a picture, decides which of eight
// colours that is, and puts what the model itself has for the word "red", or
// another, in the place of the image. Everything else about it is real:
// llama.cpp loads it, runs it and gives its numbers to the model, which then
// says what it "sees".
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

// run writes the file whole or not at all.
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
