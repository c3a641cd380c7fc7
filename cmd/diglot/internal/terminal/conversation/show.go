package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// parts are what /show can tell alone.
var parts = []string{"system", "parameters", "template", "license", "modelfile"}

// show says what the model is and what is set in this conversation, or one
// part of it.
func (c *Conversation) show(ctx context.Context, p Program, part string) error {
	if part != "" && part != "info" {
		return c.showPart(ctx, p, part)
	}
	text, err := p.Show(ctx, c.model)
	if err != nil {
		return err
	}
	text = strings.TrimRight(text, "\n")
	if set := c.choices("  "); set != "" {
		text += "\n\nSet in this conversation\n" + set
	}
	c.screen.note(text)
	return nil
}

// showPart shows what holds in this conversation: what is set here goes
// before what the model brings.
func (c *Conversation) showPart(ctx context.Context, p Program, part string) error {
	if !slices.Contains(parts, part) {
		return fmt.Errorf("/show has no %q; it has %s", part, strings.Join(parts, ", "))
	}
	if part == "system" && c.settings.System != "" {
		c.screen.note(c.settings.System)
		return nil
	}
	text, err := c.part(ctx, p, part)
	if err != nil {
		return err
	}
	if set := c.choices(""); part == "parameters" && set != "" {
		text = strings.TrimLeft(text+"\n\nSet in this conversation:\n"+set, "\n")
	}
	if text == "" {
		text = "The model has no " + part + " of its own."
	}
	c.screen.note(text)
	return nil
}

func (c *Conversation) part(ctx context.Context, p Program, part string) (string, error) {
	if p.Part == nil {
		return "", fmt.Errorf("it cannot be seen from here; try diglot show %s --%s", c.model, part)
	}
	text, err := p.Part(ctx, c.model, part)
	return strings.TrimRight(text, "\n"), err
}

// choices are the settings that are not as they are without a choice, one a
// line.
func (c *Conversation) choices(indent string) string {
	var lines []string
	usual := new(Settings).Choices()
	for _, choice := range c.settings.Choices() {
		if slices.Contains(usual, choice) {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s%-18s %s", indent, choice.Name, choice.Value))
	}
	return strings.Join(lines, "\n")
}

// showEarlier shows what the model's definition begins the conversation with,
// so that the person sees what the model does.
func (c *Conversation) showEarlier(ctx context.Context, p Program) error {
	if p.Earlier == nil {
		return nil
	}
	turns, err := p.Earlier(ctx, c.model)
	if err != nil {
		return err
	}
	for _, turn := range turns {
		switch text := spoken(turn); turn.Role {
		case engine.RoleUser:
			c.screen.note(prompt + strings.ReplaceAll(text, "\n", "\n"+more))
		case engine.RoleAssistant:
			c.screen.note(text + "\n")
		}
	}
	return nil
}

// spoken is what a person sees of a turn.
func spoken(turn engine.Message) string {
	var all []string
	for _, part := range turn.Parts {
		switch part := part.(type) {
		case engine.Text:
			all = append(all, part.Text)
		case engine.Image:
			all = append(all, "(a picture)")
		}
	}
	return strings.TrimSpace(strings.Join(all, " "))
}
