// Command build prepares this machine for compiling llama.cpp, and compiles.
//
//	go run ./tools/build                 builds bin/diglot with the llama.cpp engine
//	go run ./tools/build go test ARGS    runs any command in the same environment
//
// The Go package that carries llama.cpp lacks three vendored headers. Two
// come from the system and are installed where apt-get can do it; the third
// is our own, in engine/llamacpp/include. Flags reach code of another module
// only through the environment, which is why this is a program and not a
// #cgo line. They decide the key of Go's build cache, so that everything that
// compiles llama.cpp goes through here and compiles it once.
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

// run makes the machine ready and executes command in the cgo environment;
// an empty command is the build of bin/diglot.
func run(ctx context.Context, command []string) error {
	env, err := environment(ctx)
	if err != nil {
		return err
	}
	if err := installHeaders(ctx, env); err != nil {
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
