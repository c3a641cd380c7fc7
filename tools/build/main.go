// Command build compiles what needs llama.cpp.
//
//	go run ./tools/build                 builds bin/diglot with the llama.cpp engine
//	go run ./tools/build go test ARGS    runs any command in the same environment
//
// DIGLOT_CPU names the CPU that the program is for, as the compiler calls it
// (x86-64-v3, armv8.2-a); without it the program is for the one at hand.
//
// It needs a C++ compiler and nothing else: llama.cpp comes as a Go module,
// and engine/local/llamacpp uses the part of it that is complete in itself. Flags
// reach code of another module only through the environment, which is why
// this is a program and not a #cgo line. They are a part of the key of Go's
// build cache, so that everything that compiles llama.cpp goes through here
// and compiles it once.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		stop()
		os.Exit(1)
	}
}

// run executes command in the cgo environment; an empty command is the build
// of bin/diglot.
func run(ctx context.Context, command []string) error {
	if err := findCompiler(); err != nil {
		return err
	}
	env, err := environment(ctx)
	if err != nil {
		return err
	}
	if len(command) == 0 {
		if _, err := os.Stat("bin/diglot"); err != nil {
			fmt.Fprintln(os.Stderr, "build: compiling llama.cpp for this CPU; the first time takes some minutes")
		}
		command = []string{"go", "build", "-tags", "llamacpp", "-o", "bin/diglot", "./cmd/diglot"}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
