package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// command is what a line that begins with a slash does.
type command struct {
	names []string // the first is the one that /help shows
	args  string
	help  string
	run   func(c *Conversation, ctx context.Context, p Program, args string) error
}

// commands is a function, as /help is one of them and lists them all.
func commands() []command {
	return []command{
		{[]string{"help", "?"}, "", "this list", (*Conversation).help},
		{[]string{"set"}, "NAME VALUE", "change a setting; without VALUE, leave it to the model; without NAME, list them", (*Conversation).set},
		{[]string{"clear"}, "", "forget what was said", (*Conversation).clear},
		{[]string{"show"}, "[PART]", "say what the model is and what is set; or one of " + strings.Join(parts, ", "), (*Conversation).show},
		{[]string{"load"}, "MODEL", "go on with another model, from the beginning", (*Conversation).load},
		{[]string{"save"}, "NAME", "make a model of this conversation and its settings", (*Conversation).save},
		{[]string{bye, "exit", "quit"}, "", "leave; so does Ctrl-D", nil},
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

// command does what a line says that begins with a slash.
func (c *Conversation) command(ctx context.Context, p Program, line string) (leave bool, err error) {
	name, args, _ := strings.Cut(strings.TrimSpace(line)[1:], " ")
	k := findCommand(name)
	switch {
	case k == nil:
		return false, fmt.Errorf("there is no command /%s; /help lists them", name)
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
	c.screen.note("What was said is forgotten.")
	return nil
}

func (c *Conversation) load(ctx context.Context, p Program, name string) error {
	if name == "" {
		return fmt.Errorf("say which model: /load MODEL")
	}
	e, model, err := p.Open(ctx, name)
	if err != nil {
		return err
	}
	c.engine, c.model, c.turns = e, model, nil
	c.screen.note("This is " + model + ".")
	return c.showEarlier(ctx, p)
}

func (c *Conversation) save(ctx context.Context, p Program, name string) error {
	if name == "" {
		return fmt.Errorf("say what to call it: /save NAME")
	}
	if err := p.Save(ctx, c.model, Saved{Name: name, Settings: c.settings, Turns: c.turns}); err != nil {
		return err
	}
	c.screen.note("This conversation is the model " + name + " now.")
	return nil
}
