// Command diglot serves local language models to the clients of two API
// styles, OpenAI and Anthropic.
//
//	diglot serve --model NAME=FILE.gguf    serves models that llama.cpp computes
//	diglot serve --script FILE             serves models that play a script
//	diglot version                         says what this program is made of
//
// A third command, runner, is what serve starts for each model.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Usage:

  diglot serve --model NAME=FILE.gguf    serve models that llama.cpp computes
  diglot serve --script FILE             serve models that play a script
  diglot version                         say what this program is made of

"diglot serve --help" lists all flags.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], environment{
		stdout: os.Stdout,
		stderr: os.Stderr,
		getenv: os.Getenv,
	}))
}

// environment is what a command sees of the system around it.
type environment struct {
	stdout, stderr io.Writer
	getenv         func(string) string
}

// run runs one command until it is done or ctx ends. It returns the exit
// status: 0, 1 for a failure, 2 for a command line that makes no sense.
func run(ctx context.Context, args []string, env environment) int {
	err := dispatch(ctx, args, env)
	var wrong *usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintln(env.stderr, "diglot:", err)
		return 2
	}
	fmt.Fprintln(env.stderr, "diglot:", err)
	return 1
}

func dispatch(ctx context.Context, args []string, env environment) error {
	if len(args) == 0 {
		return wrongUsage("a command is missing\n\n%s", usage)
	}
	switch command, rest := args[0], args[1:]; command {
	case "serve":
		return serve(ctx, rest, env)
	case "runner":
		return runRunner(ctx, rest, env)
	case "version", "--version":
		return version(rest, env)
	case "help", "--help", "-h":
		fmt.Fprint(env.stdout, usage)
		return nil
	default:
		return wrongUsage("there is no command %q\n\n%s", command, usage)
	}
}

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func wrongUsage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}
