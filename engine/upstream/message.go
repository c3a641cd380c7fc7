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

// conversation maps messages in order. Pictures in the results of tools have
// no place in this style; they follow in a message of the user, once all
// results that belong together are told.
type conversation struct {
	out      []wire.ChatCompletionMessageParam
	pictures []engine.Part
	members  *members
}

func fromMessages(in []engine.Message, m *members) []wire.ChatCompletionMessageParam {
	c := conversation{members: m}
	for _, message := range in {
		if message.Role != engine.RoleTool {
			c.show()
		}
		c.add(message)
	}
	c.show()
	return c.out
}

// show adds the pictures of results, if there are any.
func (c *conversation) show() {
	if len(c.pictures) == 0 {
		return
	}
	parts := append([]engine.Part{engine.Text{Text: "Pictures of the results above:"}}, c.pictures...)
	c.pictures = nil
	c.put(wire.ChatCompletionUserMessageParam{Role: wire.ChatCompletionUserMessageParamRoleUser, Content: fromUserParts(parts)})
}

func (c *conversation) put(message any) {
	var out wire.ChatCompletionMessageParam
	hold(&out, message)
	c.out = append(c.out, out)
}

func (c *conversation) add(m engine.Message) {
	switch m.Role {
	case engine.RoleUser:
		c.put(wire.ChatCompletionUserMessageParam{
			Role: wire.ChatCompletionUserMessageParamRoleUser, Name: given(m.Name), Content: fromUserParts(m.Parts)})
	case engine.RoleAssistant:
		c.put(c.fromAssistant(m))
	case engine.RoleTool:
		for _, p := range m.Parts {
			if result, ok := p.(engine.ToolResult); ok {
				c.addResult(result)
			}
		}
	default: // developers too: few servers know them, and those treat both alike
		c.put(wire.ChatCompletionSystemMessageParam{
			Role: wire.ChatCompletionSystemMessageParamRoleSystem, Name: given(m.Name), Content: fromText(joinText(m.Parts))})
	}
}

func (c *conversation) fromAssistant(m engine.Message) wire.ChatCompletionAssistantMessageParam {
	out := wire.ChatCompletionAssistantMessageParam{Role: wire.ChatCompletionAssistantMessageParamRoleAssistant, Name: given(m.Name)}
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
	if said || len(calls) == 0 { // an answer of thoughts alone has an empty text
		var content wire.ChatCompletionAssistantContent
		hold(&content, joinText(m.Parts))
		out.Content.Set(content)
	}
	if len(thoughts) > 0 && c.members.allowed(reasoningContent) {
		out.ReasoningContent.Set(strings.Join(thoughts, "\n"))
	}
	return out
}

func fromCall(p engine.ToolCall) (out wire.ChatCompletionMessageToolCall) {
	hold(&out, wire.ChatCompletionMessageFunctionToolCall{
		ID:       fromCallID(p.ID),
		Type:     wire.ChatCompletionMessageFunctionToolCallTypeFunction,
		Function: wire.FunctionCall{Name: p.Name, Arguments: cmp.Or(p.Arguments, "{}")},
	})
	return out
}

// addResult marks a failed call in the text: the style has no other place.
func (c *conversation) addResult(r engine.ToolResult) {
	text := joinText(r.Parts)
	if r.IsError && !strings.HasPrefix(strings.ToLower(text), "error") {
		text = "Error: " + text
	}
	c.put(wire.ChatCompletionToolMessageParam{
		Role: wire.ChatCompletionToolMessageParamRoleTool, ToolCallID: fromCallID(r.CallID), Content: nullable.NewNullableWithValue(fromText(text))})
	for _, p := range r.Parts {
		if picture, ok := p.(engine.Image); ok {
			c.pictures = append(c.pictures, picture)
		}
	}
}

// fromUserParts is one text where there are no pictures: some servers know no
// other form.
func fromUserParts(parts []engine.Part) (out wire.ChatCompletionUserContent) {
	if engine.CountImages(parts) == 0 {
		hold(&out, joinText(parts))
		return out
	}
	var list []wire.ChatCompletionContentPart
	for _, p := range parts {
		var part wire.ChatCompletionContentPart
		switch p := p.(type) {
		case engine.Text:
			hold(&part, wire.ChatCompletionContentPartText{Type: wire.ChatCompletionContentPartTextTypeText, Text: p.Text})
		case engine.Image:
			hold(&part, wire.ChatCompletionContentPartImage{
				Type: wire.ChatCompletionContentPartImageTypeImageURL, ImageURL: wire.ImageURL{URL: fromImage(p)}})
		default:
			continue
		}
		list = append(list, part)
	}
	hold(&out, list)
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
	hold(&out, text)
	return out
}

// joinText joins texts with line ends, as the engine over local models does.
func joinText(parts []engine.Part) string {
	var texts []string
	for _, p := range parts {
		if t, ok := p.(engine.Text); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func given(s string) (out nullable.Nullable[string]) {
	if s != "" {
		out.Set(s)
	}
	return out
}

// callPrefix marks the ids of calls in this style; inside, ids have no prefix.
// Some servers have ids of another form and take no other back: nine letters
// and digits (Mistral), or the name and number of the call (Kimi). Those are
// kept as they are, and rawPrefix says so.
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
