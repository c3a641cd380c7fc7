// Package contract has the commands about the contract between clients and servers:
// verify holds a server against the documents, replay answers without a model, record keeps
// what a server answers, diff compares two recordings.
package contract

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// Environment is the commands' access to the system.
type Environment struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// Group is the group of the commands in the help.
const Group = "contract"

// Commands returns the commands.
func Commands(env Environment) []*cobra.Command {
	return []*cobra.Command{newVerify(env), newReplay(env), newRecord(env), newDiff(env)}
}

// noArguments is for commands that take only flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage("%s: unexpected argument %q", c.Name(), args[0])
	}
	return nil
}
