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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], environment{
		stdin:  os.Stdin,
		stdout: os.Stdout,
		stderr: os.Stderr,
		getenv: os.Getenv,
	}))
}

// environment is what a command sees of the system around it.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
}
