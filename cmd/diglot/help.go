package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

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
  1    failure; standard error has the reason
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
  DIGLOT_API_KEY   an API key that "diglot serve" accepts, besides those of its flags
  DOCKER_CONFIG    directory of Docker's registry logins (default ~/.docker)
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                   proxy for registries and other servers`,
	}
}
