package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// peers asks real servers of other projects, where they are at hand: a
// llama-server that LLAMA_SERVER names, or that is in the path.
func peers(ctx context.Context, out io.Writer) (tally, error) {
	program := os.Getenv("LLAMA_SERVER")
	if program == "" {
		found, err := exec.LookPath("llama-server")
		if err != nil {
			fmt.Fprintln(out, note+"there is no llama-server in the path, and LLAMA_SERVER names none; engine/upstream did not ask one")
			return tally{}, execute(ctx, out, nil, "go", "vet", "-tags", "peers", "./engine/upstream")
		}
		program = found
	}
	file, err := fetchModel(ctx, out, testModel)
	if err != nil {
		return tally{}, err
	}
	return countTests(ctx, out, nil, []string{"go", "test", "-json", "-tags", "peers", "-run", "^TestLlamaServer$", "-timeout", "30m",
		"./engine/upstream", "-llama-server", program, "-model", file})
}
