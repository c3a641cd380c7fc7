package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// command is a slash command.
type command struct {
	names []string // /help shows the first
	args  string
	help  string
	run   func(c *Conversation, ctx context.Context, p Program, args string) error
}

// commands is a function because /help, one of them, lists them.
func commands() []command {
	return []command{
		{[]string{"help", "?"}, "", "this list", (*Conversation).help},
		{[]string{"set"}, "NAME VALUE", "set a parameter; without VALUE, reset it; without NAME, list all", (*Conversation).set},
		{[]string{"clear"}, "", "clear the conversation", (*Conversation).clear},
		{[]string{"show"}, "[PART]", "show information about the model; or only " + strings.Join(parts, ", "), (*Conversation).show},
		{[]string{"load"}, "MODEL", "switch to another model and clear the conversation", (*Conversation).load},
		{[]string{"save"}, "NAME", "save this conversation and its settings as a model", (*Conversation).save},
		{[]string{bye, "exit", "quit"}, "", "exit; also Ctrl-D", nil},
	}
}

const bye = "bye"

func findCommand(name string) *command {
	for _, k := range commands() {
		if slices.Contains(k.names, name) {
			return &k
		}
	}
	return nil
}

// command runs a slash command.
func (c *Conversation) command(ctx context.Context, p Program, line string) (leave bool, err error) {
	name, args, _ := strings.Cut(strings.TrimSpace(line)[1:], " ")
	k := findCommand(name)
	switch {
	case k == nil:
		return false, fmt.Errorf("unknown command /%s; /help lists all", name)
	case k.run == nil:
		return true, nil
	}
	return false, k.run(c, ctx, p, strings.TrimSpace(args))
}

func (c *Conversation) help(context.Context, Program, string) error {
	var b strings.Builder
	for _, k := range commands() {
		fmt.Fprintf(&b, "%-20s %s\n", "/"+strings.TrimSpace(k.names[0]+" "+k.args), k.help)
	}
	b.WriteString(`
A message of several lines stands between two """. The path of a picture in a
message shows it to a model that sees. Ctrl-C stops an answer. Up and Down are
what was typed before.`)
	c.screen.note(b.String())
	return nil
}

func (c *Conversation) clear(context.Context, Program, string) error {
	c.turns = nil
	c.screen.note("Cleared the conversation.")
	return nil
}

func (c *Conversation) load(ctx context.Context, p Program, name string) error {
	if name == "" {
		return fmt.Errorf("missing model: /load MODEL")
	}
	e, model, err := p.Open(ctx, name)
	if err != nil {
		return err
	}
	c.engine, c.model, c.turns = e, model, nil
	c.screen.note("Loaded " + model + ".")
	return c.showEarlier(ctx, p)
}

func (c *Conversation) save(ctx context.Context, p Program, name string) error {
	if name == "" {
		return fmt.Errorf("missing name: /save NAME")
	}
	if err := p.Save(ctx, c.model, Saved{Name: name, Settings: c.settings, Turns: c.turns}); err != nil {
		return err
	}
	c.screen.note("Saved as model " + name + ".")
	return nil
}
