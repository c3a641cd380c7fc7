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

// maxPrompt bounds standard input, in bytes.
const maxPrompt = 64 << 20

// runOptions are the flags of run.
type runOptions struct {
	system         string
	format         string
	think, noThink bool
	verbose        bool
	set            flagvalue.List
	out            string // file of an image
	transfer       transferOptions
}

func newRun(env environment) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run NAME [PROMPT...]",
		Short: "Chat with a model, or run a single prompt",
		Long: `Run a model. Without a prompt, in a terminal, this starts a chat; /help lists its
commands. With a prompt, or text on standard input, it prints one answer and exits. A
model that is not on this machine is pulled first.

An image model draws the prompt, writes a PNG file, and prints its name; --set knows
seed, size, steps and what else such a model has. Terminals that show images (kitty,
iTerm2, sixels) show it, others a coarse one in coloured blocks.

To show an image to a vision model, put the path of the image into the prompt. If the
output is not a terminal, it is the text of the answer and nothing else.`,
		Example: `  diglot run qwen2.5:0.5b
  diglot run qwen2.5:0.5b "Why is the sky blue?"
  diglot run qwen2.5:0.5b "Say in one sentence what this is:" < README.md
  diglot run qwen2.5:0.5b --format json --set temperature=0 "Name three colours." > colours.json`,
		GroupID:           groupServer,
		Args:              arguments(1, anyNumber, "a model name"),
		ValidArgsFunction: completeModels(env, 1),
		RunE:              func(c *cobra.Command, args []string) error { return ask(c.Context(), env, args, o) },
	}
	c.Flags().StringVar(&o.system, "system", "", "set the system prompt to `TEXT`")
	c.Flags().StringVar(&o.format, "format", "", "answer in `FORMAT`: json or text")
	c.Flags().BoolVar(&o.think, "think", false, "enable reasoning before the answer")
	c.Flags().BoolVar(&o.noThink, "no-think", false, "disable reasoning")
	c.Flags().BoolVar(&o.verbose, "verbose", false, "print timings after each answer")
	c.Flags().Var(&o.set, "set", "set a parameter, `NAME=VALUE`: temperature, top_p, seed, max_tokens, stop or any that /set lists; repeatable")
	c.Flags().StringVarP(&o.out, "output", "o", "", "write the image to `FILE`, or - for standard output (default a name from prompt and seed)")
	o.transfer.register(c)
	return c
}

// settings returns the settings that the flags make.
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

// ask starts a chat if there is a terminal and no prompt; otherwise it runs one
// prompt.
func ask(ctx context.Context, env environment, args []string, o runOptions) error {
	n, err := parseName(args[0])
	if err != nil {
		return err
	}
	draws := draws(ctx, env, n)
	settings, err := o.settings()
	if err != nil && !draws {
		return err
	}
	piped, err := readPiped(env)
	if err != nil {
		return err
	}
	prompt := strings.Join(args[1:], " ")
	talk := prompt == "" && terminal.Is(env.stdin) && !draws
	switch {
	case talk && !terminal.Is(env.stdout):
		return exit.Usage("run: a chat needs a terminal for its output; give a prompt")
	case !talk && prompt == "" && piped == "":
		return exit.Usage("run: missing prompt; give it as an argument or on standard input")
	}
	host, err := openHost(ctx, env, o.transfer)
	if err != nil {
		return err
	}
	defer host.close()
	if draws {
		return host.draw(ctx, n, o, strings.Join(notEmpty(prompt, piped), "\n\n"))
	}
	if talk {
		return host.talk(ctx, n, settings)
	}
	return host.askOnce(ctx, n, settings, prompt, piped)
}

// readPiped reads standard input unless it is a terminal.
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
		return "", fmt.Errorf("standard input is larger than %d bytes", maxPrompt)
	case !utf8.Valid(text):
		return "", errors.New("standard input is not UTF-8 text; to send an image, put its path into the prompt")
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// told is the text of an error for the user. Of an engine error that is the
// message for clients, without the cause.
func told(err error) string {
	if coded, ok := err.(*engine.Error); ok {
		return coded.Message
	}
	return err.Error()
}
