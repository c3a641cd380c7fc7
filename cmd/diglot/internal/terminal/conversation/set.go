package conversation

import (
	"context"
	"fmt"
	"strings"
)

// shorthands are settings in one word, as people know them from other chats.
var shorthands = map[string]Choice{
	"think":         {"think", "on"},
	"nothink":       {"think", "off"},
	"think default": {"think", ""},
	"verbose":       {"verbose", "on"},
	"quiet":         {"verbose", "off"},
	"noformat":      {"format", ""},
}

// set changes a setting, or lists them.
func (c *Conversation) set(_ context.Context, _ Program, args string) error {
	if rest, ok := strings.CutPrefix(args+" ", "parameter "); ok {
		args = strings.TrimSpace(rest)
	}
	switch args {
	case "":
		c.listSettings()
		return nil
	case "history":
		c.history.Resume()
		c.screen.note("What you type is kept for Up and Down.")
		return nil
	case "nohistory":
		c.history.Pause()
		c.screen.note("What you type is not kept from now on.")
		return nil
	}
	name, value, _ := strings.Cut(args, " ")
	value = unwrap(strings.TrimSpace(value))
	if short, ok := shorthands[args]; ok {
		name, value = short.Name, short.Value
	}
	if err := c.settings.Set(name, value); err != nil {
		return err
	}
	if value == "" {
		value = "as the model likes"
	}
	c.screen.note(name + ": " + value)
	return nil
}

func (c *Conversation) listSettings() {
	var b strings.Builder
	for _, k := range settings {
		value := k.get(&c.settings)
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(&b, "%-18s %-10s %s\n", k.name, value, k.help)
	}
	b.WriteString("\nIn one word: think, nothink, verbose, quiet, noformat, history, nohistory.")
	c.screen.note(b.String())
}

// unwrap takes quotes off a value that stands between them: one, or three as
// around a message of several lines.
func unwrap(value string) string {
	for _, quote := range []string{`"""`, `"`} {
		if inner, ok := strings.CutPrefix(value, quote); ok && len(inner) >= len(quote) {
			if inner, ok = strings.CutSuffix(inner, quote); ok {
				return inner
			}
		}
	}
	return value
}
