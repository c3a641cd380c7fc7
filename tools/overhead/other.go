//go:build !llamacpp

package main

import (
	"fmt"
	"os"
)

// main tells how to run the benchmark. Without the tag the package must still
// compile.
func main() {
	fmt.Fprintln(os.Stderr, "overhead: built without llama.cpp; run it with `make overhead`")
	os.Exit(1)
}
