package upstream

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

// conversation maps messages in order. The style has no images in tool results;
// they follow in a user message after the last result in a row.
type conversation struct {
	out    []wire.ChatCompletionMessageParam
	images []engine.Part
	fields *optionalFields
}

func fromMessages(in []engine.Message, m *optionalFields) []wire.ChatCompletionMessageParam {
	c := conversation{fields: m}
	for _, message := range in {
		if message.Role != engine.RoleTool {
			c.flushImages()
		}
		c.add(message)
	}
	c.flushImages()
	return c.out
}

// flushImages adds the images of tool results, if there are any.
func (c *conversation) flushImages() {
	if len(c.images) == 0 {
		return
	}
	parts := append([]engine.Part{engine.Text{Text: "Pictures of the results above:"}}, c.images...)
	c.images = nil
	c.append(wire.ChatCompletionUserMessageParam{Role: wire.ChatCompletionUserMessageParamRoleUser, Content: fromUserParts(parts)})
}

func (c *conversation) append(message any) {
	var out wire.ChatCompletionMessageParam
	setUnion(&out, message)
	c.out = append(c.out, out)
}

func (c *conversation) add(m engine.Message) {
	switch m.Role {
	case engine.RoleUser:
		c.append(wire.ChatCompletionUserMessageParam{
			Role: wire.ChatCompletionUserMessageParamRoleUser, Name: optionalString(m.Name), Content: fromUserParts(m.Parts)})
	case engine.RoleAssistant:
		c.append(c.fromAssistant(m))
	case engine.RoleTool:
		for _, p := range m.Parts {
			if result, ok := p.(engine.ToolResult); ok {
				c.addResult(result)
			}
		}
	default: // developer too: few servers know that role, and those treat both alike
		c.append(wire.ChatCompletionSystemMessageParam{
			Role: wire.ChatCompletionSystemMessageParamRoleSystem, Name: optionalString(m.Name), Content: fromText(joinText(m.Parts))})
	}
}

func (c *conversation) fromAssistant(m engine.Message) wire.ChatCompletionAssistantMessageParam {
	out := wire.ChatCompletionAssistantMessageParam{Role: wire.ChatCompletionAssistantMessageParamRoleAssistant, Name: optionalString(m.Name)}
	var calls []wire.ChatCompletionMessageToolCall
	var thoughts []string
	said := false
	for _, p := range m.Parts {
		switch p := p.(type) {
		case engine.Text:
			said = true
		case engine.ReasoningText:
			thoughts = append(thoughts, p.Text)
		case engine.ToolCall:
			calls = append(calls, fromCall(p))
		}
	}
	if len(calls) > 0 {
		out.ToolCalls.Set(calls)
	}
	if said || len(calls) == 0 { // a message with only reasoning gets an empty text
		var content wire.ChatCompletionAssistantContent
		setUnion(&content, joinText(m.Parts))
		out.Content.Set(content)
	}
	if len(thoughts) > 0 && c.fields.allowed(reasoningContent) {
		out.ReasoningContent.Set(strings.Join(thoughts, "\n"))
	}
	return out
}

func fromCall(p engine.ToolCall) (out wire.ChatCompletionMessageToolCall) {
	setUnion(&out, wire.ChatCompletionMessageFunctionToolCall{
		ID:       fromCallID(p.ID),
		Type:     wire.ChatCompletionMessageFunctionToolCallTypeFunction,
		Function: wire.FunctionCall{Name: p.Name, Arguments: cmp.Or(p.Arguments, "{}")},
	})
	return out
}

// addResult marks a failed call in the text: the style has no field for it.
func (c *conversation) addResult(r engine.ToolResult) {
	text := joinText(r.Parts)
	if r.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	c.append(wire.ChatCompletionToolMessageParam{
		Role: wire.ChatCompletionToolMessageParamRoleTool, ToolCallID: fromCallID(r.CallID), Content: nullable.NewNullableWithValue(fromText(text))})
	for _, p := range r.Parts {
		if picture, ok := p.(engine.Image); ok {
			c.images = append(c.images, picture)
		}
	}
}

// fromUserParts returns a string unless there are images: some servers accept no
// other form.
func fromUserParts(parts []engine.Part) (out wire.ChatCompletionUserContent) {
	if engine.CountImages(parts) == 0 {
		setUnion(&out, joinText(parts))
		return out
	}
	var list []wire.ChatCompletionContentPart
	for _, p := range parts {
		var part wire.ChatCompletionContentPart
		switch p := p.(type) {
		case engine.Text:
			setUnion(&part, wire.ChatCompletionContentPartText{Type: wire.ChatCompletionContentPartTextTypeText, Text: p.Text})
		case engine.Image:
			setUnion(&part, wire.ChatCompletionContentPartImage{
				Type: wire.ChatCompletionContentPartImageTypeImageURL, ImageURL: wire.ImageURL{URL: fromImage(p)}})
		default:
			continue
		}
		list = append(list, part)
	}
	setUnion(&out, list)
	return out
}

func fromImage(p engine.Image) string {
	if p.URL != "" {
		return p.URL
	}
	media := p.MediaType
	if media == "" {
		media = http.DetectContentType(p.Data)
	}
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

func fromText(text string) (out wire.ChatCompletionTextContent) {
	setUnion(&out, text)
	return out
}

// joinText joins texts with newlines, as for local models.
func joinText(parts []engine.Part) string {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(engine.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func optionalString(s string) (out nullable.Nullable[string]) {
	if s != "" {
		out.Set(s)
	}
	return out
}

// callPrefix starts the call ids of this style; neutral ids have no prefix. Some
// servers accept only ids of their own form: nine letters and digits (Mistral),
// or the name and number of the call (Kimi). Those are kept behind rawPrefix.
const (
	callPrefix = "call_"
	rawPrefix  = "raw_"
)

func toCallID(id string) string {
	if id == "" {
		return ""
	}
	if inner, ok := strings.CutPrefix(id, callPrefix); ok && inner != "" && !strings.HasPrefix(inner, rawPrefix) {
		return inner
	}
	return rawPrefix + id
}

func fromCallID(id string) string {
	if raw, ok := strings.CutPrefix(id, rawPrefix); ok {
		return raw
	}
	return callPrefix + id
}
