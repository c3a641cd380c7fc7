// Command diglot serves language models through the OpenAI and Anthropic APIs,
// and manages those models.
//
// Each command is in the file of its name. It accesses the system only through
// an [environment]. The hidden command runner is the process that serve starts
// for each model.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/diglot/diglot/cmd/diglot/internal/serving"
)

func main() {
	os.Exit(run(untilSignal(), os.Args[1:], environment{
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		getenv: os.Getenv,
	}))
}

// untilSignal returns a context that ends with the first signal. The second one
// kills the program.
func untilSignal() context.Context {
	ctx, end := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		signal.Stop(signals)
		if s == syscall.SIGTERM {
			end(serving.ErrTerminated)
		}
		end(nil)
	}()
	return ctx
}

// environment is a command's access to the system.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}
