package conversation

import (
	"context"
	"fmt"
	"strings"
)

// shorthands are settings in one word, as in ollama.
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
		c.screen.note("History is on.")
		return nil
	case "nohistory":
		c.history.Pause()
		c.screen.note("History is off.")
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
		value = "model default"
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
	b.WriteString("\nShorthands: think, nothink, verbose, quiet, noformat, history, nohistory.")
	c.screen.note(b.String())
}

// unwrap removes the quotes, " or """, around a value.
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
