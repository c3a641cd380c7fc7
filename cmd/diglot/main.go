// Command diglot serves language models through the OpenAI and Anthropic APIs,
// and manages those models.
//
// Each command is in the file of its name. It accesses the system only through
// an [environment]. The hidden command runner is the process that serve starts
// for each model.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/contract"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
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

// The groups of commands in the help.
const (
	groupModels   = "models"
	groupServer   = "server"
	groupRegistry = "registry"
	groupMore     = "more"
)

// run runs one command line and returns its exit code, as listed by
// "diglot help exit-codes".
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
		fmt.Fprintln(env.stderr, "diglot:", terminal.Text(told(err))) // it may quote another server
	}
	return status
}

// newRoot returns the root command with all subcommands.
func newRoot(env environment) *cobra.Command {
	var showVersion bool
	root := &cobra.Command{
		Use:           "diglot",
		Short:         "Serve language models through the OpenAI and Anthropic APIs",
		Long:          "Serve language models through the OpenAI and Anthropic APIs, and manage those models.",
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
			return exit.Usage("missing command\n\n%s", strings.TrimSpace(c.UsageString()))
		},
	}
	root.Flags().BoolVarP(&showVersion, "version", "v", false, "show version information")
	root.SetIn(env.stdin)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		prefix := c.Name() + ": "
		if c == root { // run prints its name before every error
			prefix = ""
		}
		return exit.Usage("%s%v; see %q", prefix, err, c.CommandPath()+" --help")
	})
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Serve and run:"},
		&cobra.Group{ID: groupModels, Title: "Models on this machine:"},
		&cobra.Group{ID: groupRegistry, Title: "Registries and remote servers:"},
		&cobra.Group{ID: contract.Group, Title: "Contract:"},
		&cobra.Group{ID: groupMore, Title: "Other:"},
	)
	root.SetHelpCommand(newHelp())
	root.SetHelpCommandGroupID(groupMore)
	root.SuggestionsMinimumDistance = 2 // edits
	root.SetCompletionCommandGroupID(groupMore)
	root.AddCommand(
		newServe(env), newRunner(env), newTemplate(env), newRun(env), newPs(env), newLoad(env), newStop(env),
		newList(env), newShow(env), newCopy(env), newRemove(env), newCreate(env),
		newPull(env), newPush(env), newLogin(env), newLogout(env),
		newVersion(env), newExitCodes(), newEnvironment(), newClients(), newScripts(), newReference(),
	)
	root.AddCommand(contract.Commands(contract.Environment{Stdout: env.stdout, Stderr: env.stderr, Getenv: env.getenv})...)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Short = "Generate a shell completion script"
			c.Args, c.RunE = cobra.ArbitraryArgs, noSuchShell
		}
	}
	completeFlags(env, root)
	return root
}

// noSuchCommand is the error for an unknown command, with suggestions.
func noSuchCommand(root *cobra.Command, name string) error {
	text := fmt.Sprintf("unknown command %q", name)
	if near := suggestions(root, name); len(near) > 0 {
		return exit.Usage(`%s; did you mean "diglot %s"?`, text, strings.Join(near, `" or "diglot `))
	}
	return exit.Usage(`%s; see "diglot help"`, text)
}

// suggestions returns the command that docker or ollama users know under this
// name, or else the commands with a similar spelling.
func suggestions(root *cobra.Command, name string) []string {
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, strings.ToLower(name)) {
			return []string{c.Name()}
		}
	}
	return root.SuggestionsFor(name)
}

// noSuchShell makes completion fail without a known shell; cobra would print
// the help and exit with 0.
func noSuchShell(c *cobra.Command, args []string) error {
	var shells []string
	for _, k := range c.Commands() {
		shells = append(shells, k.Name())
	}
	if len(args) == 0 {
		return exit.Usage("completion: requires a shell: %s", strings.Join(shells, ", "))
	}
	return exit.Usage("completion: unsupported shell %q; want one of %s", args[0], strings.Join(shells, ", "))
}

// noArguments is for commands that take only flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage("%s: unexpected argument %q", c.Name(), args[0])
	}
	return nil
}

// newHelp makes the help command. Unlike cobra's own, it fails for an unknown
// command.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show help for a command",
		Example: "  diglot help run\n  diglot help exit-codes",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []string
			if len(args) == 0 {
				for _, k := range c.Root().Commands() {
					if !k.Hidden {
						names = append(names, k.Name())
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			explained, rest, err := c.Root().Find(args)
			if err != nil || explained == c.Root() && len(args) > 0 {
				return noSuchCommand(c.Root(), args[0])
			}
			if len(rest) > 0 {
				return exit.Usage("%s has no command %q", explained.CommandPath(), strings.Join(rest, " "))
			}
			return explained.Help()
		},
	}
}

// newExitCodes makes a help topic.
func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "Exit codes of diglot commands",
		Long: `Every command exits with one of these codes:

  0    success
  1    failure; standard error has the reason; of diff: there is a difference
  2    invalid command line, or invalid model name
  3    model not found
  4    no server is running, and the command needs one
  130  interrupted by Ctrl-C or a signal`,
	}
}

// newEnvironment makes a help topic.
func newEnvironment() *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "Environment variables that diglot reads",
		Long: `diglot reads these environment variables:

  DIGLOT_HOME      directory of the user's files (default ~/.diglot)
  DIGLOT_MODELS    model store, which may be Ollama's (default $DIGLOT_HOME/models)
  DIGLOT_SOCKET    control socket between commands and server
                   (default $DIGLOT_HOME/diglot.sock)
  DIGLOT_VARIANT   which variant of a release runs models, such as x86-64-v3, to find
                   faults (default the best one for the processor, which
                   "diglot version" names)
  DIGLOT_API_KEY   an API key that "diglot serve" accepts, besides those of its flags
  DOCKER_CONFIG    directory of Docker's registry logins (default ~/.docker)
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                   proxy for registries and other servers`,
	}
}
