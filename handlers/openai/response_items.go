package openai

import (
	"fmt"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// itemReader turns items into messages. Consecutive items of the assistant (thinking, text,
// calls) are one message.
type itemReader struct {
	messages []engine.Message
	places   itemPlaces
	calls    map[string]string // names of the functions called so far, by id
}

func toItemMessages(in *wire.CreateResponseRequest) ([]engine.Message, itemPlaces, error) {
	r := itemReader{calls: map[string]string{}}
	if text := optional.Pointer(in.Instructions); text != nil {
		r.add(instructionsPlace, engine.RoleSystem, engine.Text{Text: *text})
	}
	if text, err := in.Input.AsContentText(); err == nil {
		r.add(wholeInputPlace, engine.RoleUser, engine.Text{Text: text})
		return r.messages, r.places, nil
	}
	items, err := in.Input.AsResponseInputItems()
	if err != nil {
		return nil, nil, err
	}
	for i, item := range items {
		if err := r.read(item, i); err != nil {
			return nil, nil, err
		}
	}
	return r.messages, r.places, nil
}

// add appends a message, or parts to the assistant's current turn.
func (r *itemReader) add(item int, role engine.Role, parts ...engine.Part) {
	if n := len(r.messages); n > 0 && role == engine.RoleAssistant && r.messages[n-1].Role == role {
		r.messages[n-1].Parts = append(r.messages[n-1].Parts, parts...)
		return
	}
	r.messages = append(r.messages, engine.Message{Role: role, Parts: parts})
	r.places = append(r.places, item)
}

func (r *itemReader) read(item wire.ResponseInputItem, i int) error {
	kind, err := item.Discriminator()
	if err != nil {
		return err
	}
	param := fmt.Sprintf("input[%d]", i)
	if kind == "" { // an item without a type is a message
		m, err := item.AsResponseInputMessage()
		if err != nil {
			return err
		}
		return r.message(m, i, param)
	}
	value, err := item.ValueByDiscriminator()
	if err != nil {
		return err
	}
	switch v := value.(type) {
	case wire.ResponseInputMessage:
		return r.message(v, i, param)
	case wire.ResponseInputFunctionCall:
		id := toCallID(v.CallID)
		r.calls[id] = v.Name
		r.add(i, engine.RoleAssistant, engine.ToolCall{ID: id, Name: v.Name, Arguments: toArguments(v.Arguments)})
		return nil
	case wire.ResponseInputFunctionCallOutput:
		return r.result(v, i, param)
	case wire.ResponseInputReasoning:
		r.reasoning(v, i)
		return nil
	}
	return fmt.Errorf("%s is a %T, which the document leaves out", param, value)
}

var toResponseRole = map[wire.ResponseInputRole]engine.Role{
	wire.ResponseInputRoleUser:      engine.RoleUser,
	wire.ResponseInputRoleAssistant: engine.RoleAssistant,
	wire.ResponseInputRoleSystem:    engine.RoleSystem,
	wire.ResponseInputRoleDeveloper: engine.RoleDeveloper,
}

func (r *itemReader) message(m wire.ResponseInputMessage, i int, param string) error {
	role := toResponseRole[m.Role]
	if text, err := m.Content.AsContentText(); err == nil {
		r.add(i, role, engine.Text{Text: text})
		return nil
	}
	list, err := m.Content.AsResponseInputContentParts()
	if err != nil {
		return err
	}
	var parts []engine.Part
	for j, p := range list {
		part, err := toItemPart(p, role, fmt.Sprintf("%s.content[%d]", param, j))
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	r.add(i, role, parts...)
	return nil
}

func toItemPart(in wire.ResponseInputContentPart, role engine.Role, param string) (engine.Part, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return nil, err
	}
	switch p := value.(type) {
	case wire.ResponseInputText:
		return engine.Text{Text: p.Text}, nil
	case wire.ResponseInputOutputText:
		return engine.Text{Text: p.Text}, nil
	case wire.ResponseInputRefusal:
		return engine.Text{Text: p.Refusal}, nil
	case wire.ResponseInputImage:
		if role != engine.RoleUser {
			return nil, exchange.Invalid(param, "Only messages of the user may hold images.")
		}
		return toImage(p.ImageURL, param+".image_url")
	}
	return nil, fmt.Errorf("%s is a %T, which the document refuses", param, value)
}

func (r *itemReader) result(v wire.ResponseInputFunctionCallOutput, i int, param string) error {
	id := toCallID(v.CallID)
	name, ok := r.calls[id]
	if !ok {
		return exchange.Invalid(param+".call_id", "No earlier item is a function call with the call_id '%s'.", v.CallID)
	}
	parts := []engine.Part{engine.Text{}}
	if output, err := v.Output.Get(); err == nil {
		if parts, err = toOutputParts(output, param+".output"); err != nil {
			return err
		}
	}
	r.add(i, engine.RoleTool, engine.ToolResult{CallID: id, Name: name, Parts: parts})
	return nil
}

func toOutputParts(in wire.ResponseFunctionOutput, param string) ([]engine.Part, error) {
	if text, err := in.AsContentText(); err == nil {
		return []engine.Part{engine.Text{Text: text}}, nil
	}
	list, err := in.AsResponseFunctionOutputParts()
	if err != nil {
		return nil, err
	}
	var parts []engine.Part
	for j, p := range list {
		value, err := p.ValueByDiscriminator()
		if err != nil {
			return nil, err
		}
		part := engine.Part(nil)
		switch v := value.(type) {
		case wire.ResponseInputText:
			part = engine.Text{Text: v.Text}
		case wire.ResponseInputImage:
			if part, err = toImage(v.ImageURL, fmt.Sprintf("%s[%d].image_url", param, j)); err != nil {
				return nil, err
			}
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// reasoning prefers the thinking itself to its summary; from this server they are the same.
// An item with neither is empty.
func (r *itemReader) reasoning(v wire.ResponseInputReasoning, i int) {
	var parts []engine.Part
	for _, p := range optional.Or(v.Content, nil) {
		parts = append(parts, engine.ReasoningText{Text: p.Text})
	}
	if len(parts) == 0 {
		for _, p := range optional.Or(v.Summary, nil) {
			parts = append(parts, engine.ReasoningText{Text: p.Text})
		}
	}
	if len(parts) > 0 {
		r.add(i, engine.RoleAssistant, parts...)
	}
}
