//go:build !llamacpp

// Bench needs llama.cpp: make bench builds and runs it.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: built without llama.cpp; run it with `make bench`")
	os.Exit(1)
}
