package conversation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/terminal"
	"github.com/diglot/diglot/engine"
)

// Options configure a conversation.
type Options struct {
	Engine   engine.Engine // required
	Model    string        // required: as Engine knows it
	Settings Settings
	Screen   Screen // required
}

// Conversation is a conversation with a model. It is not safe for concurrent use.
type Conversation struct {
	engine   engine.Engine
	model    string
	settings Settings
	screen   Screen
	history  *terminal.History // input history of a Loop
	turns    []engine.Message  // without the system prompt
}

// New makes a conversation.
func New(o Options) *Conversation {
	return &Conversation{engine: o.Engine, model: o.Model, settings: o.Settings, screen: o.Screen}
}

// Ask sends a message and streams the answer to the screen. Both become turns, also
// an answer that ctx interrupts. If the conversation exceeds the context, the
// oldest turns are dropped. After an error of the engine, the turns are unchanged.
func (c *Conversation) Ask(ctx context.Context, text string, images []engine.Image) error {
	question := engine.Message{Role: engine.RoleUser}
	for _, image := range images {
		question.Parts = append(question.Parts, image)
	}
	if text != "" {
		question.Parts = append(question.Parts, engine.Text{Text: text})
	}
	for {
		said, err := c.answer(ctx, question)
		if engine.AsError(err) != nil && engine.AsError(err).Code == engine.CodeContextLength && c.forget() {
			continue
		}
		if err == nil || ctx.Err() != nil && said != "" {
			c.turns = append(c.turns, question, engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: said}}})
		}
		return err
	}
}

// forget drops the oldest turns, up to the next question.
func (c *Conversation) forget() bool {
	if len(c.turns) < 2 {
		return false
	}
	c.turns = slices.Delete(c.turns, 0, 2)
	c.screen.note("The conversation exceeds the model's context: its oldest turns are dropped.")
	return true
}

// answer streams the answer to a question, and returns its text.
func (c *Conversation) answer(ctx context.Context, question engine.Message) (string, error) {
	p := newPrinter(c.screen)
	var meter meter
	meter.begin = time.Now()
	for event, err := range c.engine.Generate(ctx, c.request(question)) {
		if err != nil {
			return p.text.String(), cmp.Or(p.end(), coded(ctx, err))
		}
		meter.see(event)
		p.show(event)
	}
	err := p.end()
	if c.settings.Verbose {
		c.screen.note(meter.String())
	}
	return p.text.String(), err
}

// coded is err, or the error of ctx if that is its cause: a user who stopped an
// answer needs no message about it.
func coded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return engine.AsError(err)
}

// request makes the request for a question after the turns. Each answer needs a
// new one.
func (c *Conversation) request(question engine.Message) *engine.Request {
	var messages []engine.Message
	if c.settings.System != "" {
		messages = append(messages, engine.Message{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: c.settings.System}}})
	}
	for _, turn := range append(slices.Clone(c.turns), question) {
		turn.Parts = slices.Clone(turn.Parts)
		messages = append(messages, turn)
	}
	return &engine.Request{
		Model:     c.model,
		Messages:  messages,
		Sampling:  c.settings.Sampling,
		MaxTokens: c.settings.MaxTokens,
		Stop:      slices.Clone(c.settings.Stop),
		Reasoning: engine.Reasoning{Mode: c.settings.Reasoning},
		Format:    c.settings.Format,
		Choices:   1,
	}
}

// meter measures one answer.
type meter struct {
	begin, first, last time.Time
	usage              engine.Usage
}

func (m *meter) see(event engine.Event) {
	switch e := event.(type) {
	case engine.TextDelta, engine.ReasoningDelta:
		m.last = time.Now()
		if m.first.IsZero() {
			m.first = m.last
		}
	case engine.Done:
		m.usage = e.Usage
	}
}

// String formats the measurements in lines.
func (m *meter) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "prompt:       %d tokens, %d of them cached", m.usage.PromptTokens, m.usage.CachedTokens)
	fmt.Fprintf(&b, "\nanswer:       %d tokens", m.usage.CompletionTokens)
	if m.usage.ReasoningTokens > 0 {
		fmt.Fprintf(&b, ", %d of them reasoning", m.usage.ReasoningTokens)
	}
	if m.first.IsZero() {
		return b.String()
	}
	fmt.Fprintf(&b, "\nfirst token:  after %s", m.first.Sub(m.begin).Round(time.Millisecond))
	if took := m.last.Sub(m.first); took > 0 {
		fmt.Fprintf(&b, "\nspeed:        %.1f tokens/s", float64(m.usage.CompletionTokens-1)/took.Seconds())
	}
	fmt.Fprintf(&b, "\ntotal:        %s", m.last.Sub(m.begin).Round(time.Millisecond))
	return b.String()
}
