package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
)

// The groups of commands in the help.
const (
	groupModels   = "models"
	groupServer   = "server"
	groupRegistry = "registry"
	groupMore     = "more"
)

// run runs one command until it is done or ctx ends. It returns the exit
// status, as "diglot help exit-codes" lists them.
func run(ctx context.Context, args []string, env environment) int {
	root := newRoot(env)
	root.SetArgs(append([]string{}, args...)) // nil would mean the program's own
	err := root.ExecuteContext(ctx)
	status := exit.Status(err)
	var continues *interruptedError
	switch {
	case status == exit.Interrupted && !errors.As(err, &continues):
		fmt.Fprintln(env.stderr, "diglot: interrupted")
	case err != nil:
		fmt.Fprintln(env.stderr, "diglot:", terminal.Text(told(err))) // parts may be what another server said
	}
	return status
}

// newRoot is the tree of all commands.
func newRoot(env environment) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:   "diglot",
		Short: "Serve language models to clients of the OpenAI and Anthropic styles",
		Long: `diglot serves language models to clients of the OpenAI and Anthropic styles,
and keeps the models that it serves.`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return noSuchCommand(c, args[0])
			case showVersion:
				return version(c.Context(), env)
			}
			return exit.Usage("a command is missing\n\n%s", strings.TrimSpace(c.UsageString()))
		},
	}
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "say what this program is made of")
	root.SetIn(env.stdin)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		prefix := c.Name() + ": "
		if c == root { // whose name stands before every error
			prefix = ""
		}
		return exit.Usage("%s%v; see %q", prefix, err, c.CommandPath()+" --help")
	})
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Serving and asking:"},
		&cobra.Group{ID: groupModels, Title: "Models on this machine:"},
		&cobra.Group{ID: groupRegistry, Title: "Models elsewhere:"},
		&cobra.Group{ID: groupMore, Title: "More:"},
	)
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID(groupMore)
	root.SuggestionsMinimumDistance = 2 // letters that may differ
	root.SetCompletionCommandGroupID(groupMore)
	root.AddCommand(
		newServe(env), newRunner(env), newTemplate(env), newRun(env), newPs(env), newLoad(env), newStop(env),
		newList(env), newShow(env), newCopy(env), newRemove(env), newCreate(env),
		newPull(env), newPush(env), newLogin(env), newLogout(env),
		newVersion(env), newExitCodes(), newEnvironment(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = cobra.ArbitraryArgs, noSuchShell
		}
	}
	completeFlags(env, root)
	return root
}

// noSuchCommand names the commands that could have been meant.
func noSuchCommand(root *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no command %q", name)
	if near := meant(root, name); len(near) > 0 {
		return exit.Usage(`%s; is it "diglot %s"?`, text, strings.Join(near, `" or "diglot `))
	}
	return exit.Usage(`%s; "diglot help" lists them all`, text)
}

// meant are the commands that a name could stand for: what other programs call
// so, or else what is spelled nearly so.
func meant(root *cobra.Command, name string) []string {
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, strings.ToLower(name)) {
			return []string{c.Name()}
		}
	}
	return root.SuggestionsFor(name)
}

// noSuchShell is for completion without a shell that it knows, where cobra
// would print the help and call that a success.
func noSuchShell(c *cobra.Command, args []string) error {
	var shells []string
	for _, k := range c.Commands() {
		shells = append(shells, k.Name())
	}
	if len(args) == 0 {
		return exit.Usage("completion: want the name of a shell: %s", strings.Join(shells, ", "))
	}
	return exit.Usage("completion: there is none for %q, but for %s", args[0], strings.Join(shells, ", "))
}

// noArguments is for commands that take flags alone.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage("%s: unexpected argument %q", c.Name(), args[0])
	}
	return nil
}
