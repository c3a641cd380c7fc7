package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/flagvalue"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/cmd/diglot/internal/terminal/conversation"
	"github.com/diglot/diglot/engine"
)

// maxPrompt is the most bytes that are read from standard input.
const maxPrompt = 64 << 20

// runOptions are the flags of run.
type runOptions struct {
	system         string
	format         string
	think, noThink bool
	verbose        bool
	set            flagvalue.List
	transfer       transferOptions
}

// newRun is the command that asks a model, once or in a conversation.
func newRun(env environment) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run NAME [PROMPT...]",
		Short: "Ask a model: in a conversation, or once with a prompt",
		Long: `Ask a model. Without a prompt, on a terminal, it is a conversation: /help there lists
what can be done. With a prompt, or text on standard input, the model answers once. A
model that is not there is pulled first.

The path of a picture in the prompt shows it to a model that sees. Where the output is
not a terminal it is the text of the answer, and nothing else.`,
		Example: `  diglot run qwen2.5:0.5b
  diglot run qwen2.5:0.5b "Why is the sky blue?"
  diglot run qwen2.5:0.5b "Say in one sentence what this is:" < README.md
  diglot run qwen2.5:0.5b --format json --set temperature=0 "Name three colours." > colours.json`,
		GroupID:           groupServer,
		Args:              arguments(1, anyNumber, "the name of a model"),
		ValidArgsFunction: completeModels(env, 1),
		RunE:              func(c *cobra.Command, args []string) error { return ask(c.Context(), env, args, o) },
	}
	c.Flags().StringVar(&o.system, "system", "", "`TEXT` that the model is told before all else")
	c.Flags().StringVar(&o.format, "format", "", "`FORMAT` of the answer: json or text")
	c.Flags().BoolVar(&o.think, "think", false, "have the model think before it answers")
	c.Flags().BoolVar(&o.noThink, "no-think", false, "have it answer at once")
	c.Flags().BoolVar(&o.verbose, "verbose", false, "say after each answer how long it took")
	c.Flags().Var(&o.set, "set", "`NAME=VALUE` of a setting, as /set lists them, such as temperature, top_p, seed, max_tokens or stop; may be repeated")
	o.transfer.register(c)
	return c
}

// settings are what the flags say.
func (o *runOptions) settings() (conversation.Settings, error) {
	s := conversation.Settings{System: o.system, Verbose: o.verbose}
	if o.think && o.noThink {
		return s, exit.Usage("run: --think and --no-think exclude each other")
	}
	if o.think {
		s.Reasoning = engine.ReasoningOn
	}
	if o.noThink {
		s.Reasoning = engine.ReasoningOff
	}
	for _, one := range append(flagvalue.List{"format=" + o.format}, o.set...) {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			return s, exit.Usage("run: --set is %q, not NAME=VALUE", one)
		}
		if err := s.Set(name, value); err != nil {
			return s, exit.Usage("run: %v", err)
		}
	}
	return s, nil
}

// ask begins a conversation where a person can have one, and otherwise asks
// once.
func ask(ctx context.Context, env environment, args []string, o runOptions) error {
	settings, err := o.settings()
	if err != nil {
		return err
	}
	n, err := parseName(args[0])
	if err != nil {
		return err
	}
	piped, err := readPiped(env)
	if err != nil {
		return err
	}
	prompt := strings.Join(args[1:], " ")
	talk := prompt == "" && terminal.Is(env.stdin)
	switch {
	case talk && !terminal.Is(env.stdout):
		return exit.Usage("run: give a prompt; a conversation needs a terminal to show the answers")
	case !talk && prompt == "" && piped == "":
		return exit.Usage("run: there is no prompt: neither an argument nor text on standard input")
	}
	host, err := openHost(ctx, env, o.transfer)
	if err != nil {
		return err
	}
	defer host.close()
	if talk {
		return host.talk(ctx, n, settings)
	}
	return host.askOnce(ctx, n, settings, prompt, piped)
}

// readPiped reads standard input, unless a person would have to type it.
func readPiped(env environment) (string, error) {
	if terminal.Is(env.stdin) {
		return "", nil
	}
	limited := &io.LimitedReader{R: env.stdin, N: maxPrompt + 1}
	text, err := io.ReadAll(limited)
	switch {
	case err != nil:
		return "", fmt.Errorf("standard input: %w", err)
	case limited.N == 0:
		return "", fmt.Errorf("standard input has more than %d bytes", maxPrompt)
	case !utf8.Valid(text):
		return "", errors.New("standard input is no text; a picture is named by its path in the prompt")
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// told is the text of an error for a person: of one of the engine's, what is
// for clients.
func told(err error) string {
	if coded, ok := err.(*engine.Error); ok {
		return coded.Message
	}
	return err.Error()
}
