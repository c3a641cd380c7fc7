package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// newHelp is the command that explains the others. Unlike cobra's own, it
// fails where there is nothing to explain.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
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

// newExitCodes is a page of help.
func newExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit status of a command means",
		Long: `Every command ends with one of these statuses:

  0    it did what it was asked to
  1    it failed; standard error says why
  2    the command line makes no sense, or a name in it is no model's name
  3    there is no such model
  4    the command needs a running server, and there is none
  130  it was interrupted, by Ctrl-C or a signal`,
	}
}

// newEnvironment is a page of help.
func newEnvironment() *cobra.Command {
	return &cobra.Command{
		Use:   "environment",
		Short: "What the environment says to diglot",
		Long: `These environment variables are looked at:

  DIGLOT_HOME      the folder of the user's files (default ~/.diglot)
  DIGLOT_MODELS    the model store, which may be Ollama's (default models in DIGLOT_HOME)
  DIGLOT_SOCKET    the socket between the commands and the server (default diglot.sock
                   in DIGLOT_HOME)
  DIGLOT_API_KEY   one more key that clients of "diglot serve" may send
  DOCKER_CONFIG    the folder with docker's logins for registries (default ~/.docker)
  HTTPS_PROXY, HTTP_PROXY, NO_PROXY
                   the proxy to registries and other servers`,
	}
}
