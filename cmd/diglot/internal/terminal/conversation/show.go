package conversation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
)

// parts are the arguments of /show.
var parts = []string{"system", "parameters", "template", "license", "modelfile"}

// show shows information about the model and the settings, or one part of it.
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

// showPart shows a part as it applies to this conversation: settings override the
// model.
func (c *Conversation) showPart(ctx context.Context, p Program, part string) error {
	if !slices.Contains(parts, part) {
		return fmt.Errorf("/show does not support %q; want one of %s", part, strings.Join(parts, ", "))
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
		text = "The model has no " + part + "."
	}
	c.screen.note(text)
	return nil
}

func (c *Conversation) part(ctx context.Context, p Program, part string) (string, error) {
	if p.Part == nil {
		return "", fmt.Errorf("not available here; try diglot show %s --%s", c.model, part)
	}
	text, err := p.Part(ctx, c.model, part)
	return strings.TrimRight(text, "\n"), err
}

// choices formats the settings with a value, one per line.
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

// showEarlier prints the messages of the model's Modelfile, which are part of the
// conversation.
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

// spoken is the visible text of a turn.
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
