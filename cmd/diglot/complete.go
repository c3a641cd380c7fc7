package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/openapi"
)

// completeModels completes up to most arguments with the names of stored models.
func completeModels(env environment, most int) cobra.CompletionFunc {
	env.stderr = io.Discard // a shell would print it into the edited line
	return completeNames(most, func(ctx context.Context) []string {
		models, err := listModels(ctx, env, "")
		if err != nil {
			return nil
		}
		var names []string
		for _, m := range models {
			names = append(names, m.Name.String())
		}
		return names
	})
}

// flagValues are completions of flags.
var flagValues = []struct {
	command, flag string
	values        []cobra.Completion
	more          bool // the completion is only the start of the value
}{
	{"run", "format", []cobra.Completion{"json", "text"}, false},
	{"run", "set", completeSettings(), true},
	{"serve", "profile", []cobra.Completion{string(openapi.ProfileDefault), string(openapi.ProfileDocument)}, false},
	{"replay", "profile", []cobra.Completion{string(openapi.ProfileDefault), string(openapi.ProfileDocument)}, false},
}

func completeSettings() []cobra.Completion {
	all := []cobra.Completion{"max_tokens=", "stop="}
	for p := range engine.SamplingParams() {
		all = append(all, p.Name+"=")
	}
	return all
}

// completeFlags registers the completions of flags.
func completeFlags(env environment, root *cobra.Command) {
	for _, c := range root.Commands() {
		for _, f := range flagValues {
			if f.command == c.Name() {
				directive := cobra.ShellCompDirectiveNoFileComp
				if f.more {
					directive |= cobra.ShellCompDirectiveNoSpace
				}
				_ = c.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.values, directive))
			}
		}
		if c.Name() == "serve" {
			_ = c.RegisterFlagCompletionFunc("load", completeModels(env, anyNumber))
		}
	}
}

// completeLoaded completes up to most arguments with the names of loaded models.
func completeLoaded(env environment, most int) cobra.CompletionFunc {
	return completeNames(most, func(ctx context.Context) []string {
		server, err := dial(env)
		if err != nil {
			return nil
		}
		defer server.Close()
		loaded, err := server.Loaded(ctx)
		if err != nil {
			return nil
		}
		var names []string
		for _, m := range loaded {
			names = append(names, m.Name)
		}
		return names
	})
}

// completeNames completes names that are not given yet. Errors mean no completion,
// because a shell cannot show them.
func completeNames(most int, names func(context.Context) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most != anyNumber && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		left := slices.DeleteFunc(names(c.Context()), func(name string) bool { return slices.Contains(args, name) })
		return left, cobra.ShellCompDirectiveNoFileComp
	}
}
