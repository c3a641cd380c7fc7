package main

import (
	"strings"

	"github.com/spf13/cobra"
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
				return wrongUsage("%s has no command %q", explained.CommandPath(), strings.Join(rest, " "))
			}
			return explained.Help()
		},
	}
}
