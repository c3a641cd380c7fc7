// Command diglot serves local language models to the clients of two API
// styles, OpenAI and Anthropic, and keeps the models that it serves.
//
// The file of a command has its name. Each makes a cobra command around an
// [environment], which is all that a command knows of the system; what it
// does is in the packages. runner, which no user types, is what serve starts
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

// untilSignal returns a context that ends with the first signal. A second one
// ends the program at once.
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

// environment is what a command sees of the system around it.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}
