package openai

import (
	"fmt"
	"strings"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// conversation maps messages in order; a tool message needs the call that it answers.
type conversation struct {
	calls     map[string]string // names of called functions, by call id
	functions map[string]string // ids of the latest calls that came without one, by function name
}

func toMessages(in []wire.ChatCompletionMessageParam) ([]engine.Message, error) {
	c := conversation{calls: map[string]string{}, functions: map[string]string{}}
	messages := make([]engine.Message, 0, len(in))
	for i, m := range in {
		message, err := c.toMessage(m, fmt.Sprintf("messages[%d]", i))
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	return messages, nil
}

func (c conversation) toMessage(in wire.ChatCompletionMessageParam, param string) (engine.Message, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return engine.Message{}, err
	}
	switch m := value.(type) {
	case wire.ChatCompletionSystemMessageParam:
		parts, err := toTextParts(m.Content)
		return engine.Message{Role: engine.RoleSystem, Name: optional.Or(m.Name, ""), Parts: parts}, err
	case wire.ChatCompletionDeveloperMessageParam:
		parts, err := toTextParts(m.Content)
		return engine.Message{Role: engine.RoleDeveloper, Name: optional.Or(m.Name, ""), Parts: parts}, err
	case wire.ChatCompletionUserMessageParam:
		parts, err := toUserParts(m.Content, param+".content")
		return engine.Message{Role: engine.RoleUser, Name: optional.Or(m.Name, ""), Parts: parts}, err
	case wire.ChatCompletionAssistantMessageParam:
		parts, err := c.toAssistantParts(m, param)
		return engine.Message{Role: engine.RoleAssistant, Name: optional.Or(m.Name, ""), Parts: parts}, err
	case wire.ChatCompletionToolMessageParam:
		return c.toToolMessage(m, param)
	case wire.ChatCompletionFunctionMessageParam:
		return c.toFunctionMessage(m, param)
	}
	return engine.Message{}, fmt.Errorf("%s is a %T, which the document refuses", param, value)
}

func toTextParts(in wire.ChatCompletionTextContent) ([]engine.Part, error) {
	if text, err := in.AsContentText(); err == nil {
		return []engine.Part{engine.Text{Text: text}}, nil
	}
	list, err := in.AsContentTextParts()
	if err != nil {
		return nil, err
	}
	var parts []engine.Part
	for _, p := range list {
		parts = append(parts, engine.Text{Text: p.Text})
	}
	return parts, nil
}

func toUserParts(in wire.ChatCompletionUserContent, param string) ([]engine.Part, error) {
	if text, err := in.AsContentText(); err == nil {
		return []engine.Part{engine.Text{Text: text}}, nil
	}
	list, err := in.AsUserContentParts()
	if err != nil {
		return nil, err
	}
	var parts []engine.Part
	for i, p := range list {
		part, err := toUserPart(p, fmt.Sprintf("%s[%d]", param, i))
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func toUserPart(in wire.ChatCompletionContentPart, param string) (engine.Part, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return nil, err
	}
	switch p := value.(type) {
	case wire.ChatCompletionContentPartText:
		return engine.Text{Text: p.Text}, nil
	case wire.ChatCompletionContentPartImage:
		return toImage(p.ImageURL.URL, param+".image_url.url")
	}
	return nil, fmt.Errorf("%s is a %T, which the document refuses", param, value)
}

func (c conversation) toAssistantParts(m wire.ChatCompletionAssistantMessageParam, param string) ([]engine.Part, error) {
	var parts []engine.Part
	if text := optional.Or(m.ReasoningContent, optional.Or(m.Reasoning, "")); text != "" {
		parts = append(parts, engine.ReasoningText{Text: text})
	}
	texts, err := toAssistantTexts(m)
	if err != nil {
		return nil, err
	}
	calls, err := c.toCalls(m)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		if text != "" || len(calls) == 0 { // clients send "" along with calls
			parts = append(parts, engine.Text{Text: text})
		}
	}
	parts = append(parts, calls...)
	if len(parts) == 0 { // an empty answer, or the client has dropped its reasoning
		parts = append(parts, engine.Text{})
	}
	return parts, nil
}

func (c conversation) toCalls(m wire.ChatCompletionAssistantMessageParam) ([]engine.Part, error) {
	var parts []engine.Part
	for _, call := range optional.Or(m.ToolCalls, nil) {
		function, err := call.AsChatCompletionMessageFunctionToolCallParam()
		if err != nil {
			return nil, err
		}
		id := toCallID(function.ID)
		c.calls[id] = function.Function.Name
		parts = append(parts, engine.ToolCall{ID: id, Name: function.Function.Name, Arguments: toArguments(function.Function.Arguments)})
	}
	if call, err := m.FunctionCall.Get(); err == nil {
		parts = append(parts, c.callFunction(call))
	}
	return parts, nil
}

// toArguments reads the arguments of an earlier call. Clients omit empty ones.
func toArguments(in nullable.Nullable[string]) string {
	if text := optional.Or(in, ""); strings.TrimSpace(text) != "" {
		return text
	}
	return engine.NoArguments
}

// toAssistantTexts returns the texts of the message; a refusal is text too.
func toAssistantTexts(m wire.ChatCompletionAssistantMessageParam) ([]string, error) {
	content, err := m.Content.Get()
	if err != nil { // absent
		if refusal := optional.Pointer(m.Refusal); refusal != nil {
			return []string{*refusal}, nil
		}
		return nil, nil
	}
	if text, err := content.AsContentText(); err == nil {
		return []string{text}, nil
	}
	list, err := content.AsAssistantContentParts()
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, p := range list {
		value, err := p.ValueByDiscriminator()
		if err != nil {
			return nil, err
		}
		switch part := value.(type) {
		case wire.ChatCompletionContentPartText:
			texts = append(texts, part.Text)
		case wire.ChatCompletionContentPartRefusal:
			texts = append(texts, part.Refusal)
		}
	}
	return texts, nil
}

func (c conversation) toToolMessage(m wire.ChatCompletionToolMessageParam, param string) (engine.Message, error) {
	id := toCallID(m.ToolCallID)
	name, ok := c.calls[id]
	if !ok {
		return engine.Message{}, exchange.Invalid(param+".tool_call_id", "No earlier message calls a tool with the id '%s'.", m.ToolCallID)
	}
	parts := []engine.Part{engine.Text{}}
	if content, err := m.Content.Get(); err == nil {
		if parts, err = toTextParts(content); err != nil {
			return engine.Message{}, err
		}
	}
	return engine.Message{
		Role:  engine.RoleTool,
		Parts: []engine.Part{engine.ToolResult{CallID: id, Name: name, Parts: parts}},
	}, nil
}

// callPrefix begins call ids of this style; internal ids have no prefix.
const callPrefix = "call_"

func toCallID(id string) string   { return strings.TrimPrefix(id, callPrefix) }
func fromCallID(id string) string { return callPrefix + id }
