package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// peers tests engine/upstream against a real llama-server: LLAMA_SERVER, or the one
// in PATH.
func peers(ctx context.Context, out io.Writer) (tally, error) {
	program := os.Getenv("LLAMA_SERVER")
	if program == "" {
		found, err := exec.LookPath("llama-server")
		if err != nil {
			fmt.Fprintln(out, note+"no llama-server in PATH or LLAMA_SERVER; engine/upstream was not tested against one")
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
