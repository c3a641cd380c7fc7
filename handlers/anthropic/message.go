package anthropic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// conversation maps messages in order; a tool result needs the call that it answers. It
// collects what messages say beside their text.
type conversation struct {
	calls   map[string]string // names of the tools called so far, by id
	passing []int             // indexes of instructions that last until a user message
	effort  wire.Effort       // that a system message asked for, or empty
	changes []change          // of the tools, in order
}

func (c *conversation) toMessages(in *wire.CreateMessageRequest) ([]engine.Message, error) {
	messages := make([]engine.Message, 0, len(in.Messages)+1)
	if in.System != nil {
		text, err := toSystem(*in.System)
		if err != nil {
			return nil, err
		}
		if text != "" {
			messages = append(messages, engine.Message{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: text}}})
		}
	}
	for i, m := range in.Messages {
		var err error
		if messages, err = c.add(messages, m, fmt.Sprintf("messages.%d.content", i)); err != nil {
			return nil, err
		}
	}
	if !slices.ContainsFunc(messages, isTurn) {
		return nil, exchange.Invalid("messages", "There is no message to answer.")
	}
	return messages, nil
}

func isTurn(m engine.Message) bool { return m.Role != engine.RoleSystem }

// toSystem joins the blocks of the system prompt with an empty line: agents send
// instructions of several sources as blocks, without trailing newlines.
func toSystem(in wire.SystemPrompt) (string, error) {
	if text, err := in.AsContentText(); err == nil {
		return text, nil
	}
	blocks, err := in.AsSystemBlocks()
	if err != nil {
		return "", err
	}
	texts := make([]string, 0, len(blocks))
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n\n"), nil
}

var toRole = map[wire.TurnParamRole]engine.Role{
	wire.TurnParamRoleUser:      engine.RoleUser,
	wire.TurnParamRoleAssistant: engine.RoleAssistant,
}

// add maps one message and adds it to those before it.
func (c *conversation) add(messages []engine.Message, in wire.MessageParam, param string) ([]engine.Message, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return nil, err
	}
	switch m := value.(type) {
	case wire.TurnParam:
		if m.Role == wire.TurnParamRoleUser {
			messages = c.clear(messages)
		}
		turns, err := c.toTurns(toRole[m.Role], m.Content, param)
		return append(messages, turns...), err
	case wire.SystemMessageParam:
		return c.addInstructions(messages, m, param)
	}
	return nil, fmt.Errorf("%s is a %T, which the document refuses", param, value)
}

func (c *conversation) addInstructions(messages []engine.Message, in wire.SystemMessageParam, param string) ([]engine.Message, error) {
	c.effort = cmp.Or(optional.Or(optional.Or(in.OutputConfig, wire.SystemOutputConfig{}).Effort, ""), c.effort)
	if in.Content == nil {
		return messages, nil
	}
	turns, err := c.toTurns(engine.RoleSystem, *in.Content, param)
	if optional.Or(in.ClearAt, wire.ClearAtNever) == wire.ClearAtNextUserMessage {
		for i := range turns {
			c.passing = append(c.passing, len(messages)+i)
		}
	}
	return append(messages, turns...), err
}

// clear removes the instructions that last until a message by the user.
func (c *conversation) clear(messages []engine.Message) []engine.Message {
	for _, i := range slices.Backward(c.passing) {
		messages = slices.Delete(messages, i, i+1)
	}
	c.passing = nil
	return messages
}

// toTurns maps the content of one message. A user message with tool results becomes several
// turns, since results are turns of the tool; one that holds only blocks without effect
// becomes none.
func (c *conversation) toTurns(role engine.Role, in wire.MessageContent, param string) ([]engine.Message, error) {
	if text, err := in.AsContentText(); err == nil {
		return []engine.Message{{Role: role, Parts: []engine.Part{engine.Text{Text: text}}}}, nil
	}
	blocks, err := in.AsContentBlocks()
	if err != nil {
		return nil, err
	}
	var turns []engine.Message
	for i, b := range blocks {
		part, err := c.toPart(b, fmt.Sprintf("%s.%d", param, i))
		if err != nil {
			return nil, err
		}
		if part == nil {
			continue
		}
		if !mayHold(role, part) {
			kind, _ := b.Discriminator() // a part was made of it, so it has a type
			return nil, exchange.Invalid(fmt.Sprintf("%s.%d", param, i), "A message of role %s cannot hold a block of type %s.", role, kind)
		}
		turns = addPart(turns, role, part)
	}
	return turns, nil
}

// mayHold reports whether a role may have a part: only the assistant calls tools and
// thinks, only the user sends results and images, and the system only writes.
func mayHold(role engine.Role, part engine.Part) bool {
	switch part.(type) {
	case engine.ToolCall, engine.ReasoningText:
		return role == engine.RoleAssistant
	case engine.ToolResult, engine.Image:
		return role == engine.RoleUser
	}
	return true
}

// addPart adds a part to the last turn, or begins a turn if the role changes.
func addPart(turns []engine.Message, role engine.Role, part engine.Part) []engine.Message {
	if _, ok := part.(engine.ToolResult); ok {
		role = engine.RoleTool
	}
	if n := len(turns); n > 0 && turns[n-1].Role == role {
		turns[n-1].Parts = append(turns[n-1].Parts, part)
		return turns
	}
	return append(turns, engine.Message{Role: role, Parts: []engine.Part{part}})
}

// toPart maps one block; nil for a block without effect.
func (c *conversation) toPart(in wire.ContentBlockParam, param string) (engine.Part, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return nil, err
	}
	switch b := value.(type) {
	case wire.TextBlockParam:
		return engine.Text{Text: b.Text}, nil
	case wire.ImageBlockParam:
		return toImage(b.Source, param+".source")
	case wire.ThinkingBlockParam:
		return engine.ReasoningText{Text: b.Thinking}, nil
	case wire.RedactedThinkingBlockParam, wire.FallbackBlockParam:
		return nil, nil
	case wire.ToolChangeBlockParam:
		c.changes = append(c.changes, change{b, param + ".tool"})
		return nil, nil
	case wire.CompactionBlockParam:
		for i, block := range optional.Or(b.ToolChanges, nil) {
			c.changes = append(c.changes, change{block, fmt.Sprintf("%s.tool_changes.%d.tool", param, i)})
		}
		if text, err := b.Content.Get(); err == nil {
			return engine.Text{Text: text}, nil
		}
		return nil, nil
	case wire.ToolUseBlockParam:
		id := toCallID(b.ID)
		c.calls[id] = b.Name
		arguments := engine.NoArguments
		if b.Input != nil {
			arguments = string(*b.Input)
		}
		return engine.ToolCall{ID: id, Name: b.Name, Arguments: arguments}, nil
	case wire.ToolResultBlockParam:
		return c.toToolResult(b, param)
	}
	return nil, fmt.Errorf("%s is a %T, which the document refuses", param, value)
}

func (c *conversation) toToolResult(b wire.ToolResultBlockParam, param string) (engine.Part, error) {
	id := toCallID(b.ToolUseID)
	name, ok := c.calls[id]
	if !ok {
		return nil, exchange.Invalid(param+".tool_use_id", "No earlier message holds a tool_use block with the id '%s'.", b.ToolUseID)
	}
	result := engine.ToolResult{CallID: id, Name: name, IsError: optional.Or(b.IsError, false)}
	content, err := b.Content.Get()
	if err != nil {
		return result, nil // absent: an empty result
	}
	if text, err := content.AsContentText(); err == nil {
		result.Parts = []engine.Part{engine.Text{Text: text}}
		return result, nil
	}
	blocks, err := content.AsToolResultBlocks()
	if err != nil {
		return nil, err
	}
	for i, block := range blocks {
		part, err := toResultPart(block, fmt.Sprintf("%s.content.%d", param, i))
		if err != nil {
			return nil, err
		}
		result.Parts = append(result.Parts, part)
	}
	return result, nil
}

func toResultPart(in wire.ToolResultContentBlockParam, param string) (engine.Part, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return nil, err
	}
	switch b := value.(type) {
	case wire.TextBlockParam:
		return engine.Text{Text: b.Text}, nil
	case wire.ImageBlockParam:
		return toImage(b.Source, param+".source")
	}
	return nil, fmt.Errorf("%s is a %T, which the document refuses", param, value)
}

// callPrefix begins call ids of this style; internal ids have no prefix.
const callPrefix = "toolu_"

func toCallID(id string) string   { return strings.TrimPrefix(id, callPrefix) }
func fromCallID(id string) string { return callPrefix + id }
