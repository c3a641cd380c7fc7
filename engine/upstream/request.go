package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/internal/plainjson"
)

// Names of the operations, as the paths have them.
const (
	chatCompletions = "chat/completions"
	completions     = "completions"
	embeddings      = "embeddings"
	images          = "images/generations"
)

const jsonType = "application/json"

// chat asks for the answer to a conversation.
func (e *Engine) chat(req *engine.Request) operation {
	return operation{
		name: chatCompletions,
		send: func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
			return e.client.CreateChatCompletionWithBody(ctx, jsonType, in, e.readdress, dress)
		},
		build: func(l *lesson) (*body, error) {
			m := newMembers(l)
			m.stream()
			return e.fromRequest(req, m)
		},
		affinity: affinity(e.config.Model, e.config.Examples, req),
	}
}

// fromRequest maps a conversation, and adds it to what m has.
func (e *Engine) fromRequest(req *engine.Request, m *members) (*body, error) {
	out := wire.CreateChatCompletionRequest{
		Model:          e.config.Model,
		Messages:       fromMessages(req.Messages, m),
		Stop:           fromStop(req.Stop),
		ResponseFormat: fromFormat(req.Format),
	}
	if req.Choices > 1 {
		out.N.Set(req.Choices)
	}
	if req.Logprobs != nil {
		out.Logprobs.Set(true)
		out.TopLogprobs.Set(*req.Logprobs)
	}
	kept := fromTools(&out, req)
	m.sampling(req.Sampling)
	m.maxTokens(req.MaxTokens)
	m.reasoning(req.Reasoning)
	if req.Truncate { // no server of this style has such a member
		m.ignored = append(m.ignored, "truncation")
	}
	b, err := m.body(out)
	if err == nil {
		b.tools = kept
	}
	return b, err
}

// fromTools maps the tools that may be called, and says which of the
// request's they are. Where only some may be, the others are left out: few
// servers can be told more than that a call must come, and to make a model
// call one of one tool is to make it call that one.
func fromTools(out *wire.CreateChatCompletionRequest, req *engine.Request) []int {
	var tools []wire.ChatCompletionTool
	var kept []int
	for i, t := range req.Tools {
		if len(req.ToolChoice.Names) > 0 && !slices.Contains(req.ToolChoice.Names, t.Name) {
			continue
		}
		tools = append(tools, fromTool(t))
		kept = append(kept, i)
	}
	if len(tools) == 0 {
		return nil
	}
	out.Tools.Set(tools)
	if mode, ok := fromToolMode[req.ToolChoice.Mode]; ok {
		var choice wire.ChatCompletionToolChoiceOption
		hold(&choice, mode)
		out.ToolChoice.Set(choice)
	}
	if req.ToolChoice.Single {
		out.ParallelToolCalls.Set(false)
	}
	return kept
}

var fromToolMode = map[engine.ToolMode]wire.ChatCompletionToolChoiceMode{
	engine.ToolNone:     wire.ChatCompletionToolChoiceModeNone,
	engine.ToolRequired: wire.ChatCompletionToolChoiceModeRequired,
}

func fromTool(t engine.Tool) (out wire.ChatCompletionTool) {
	function := wire.FunctionDefinition{Name: t.Name}
	if t.Description != "" {
		function.Description.Set(t.Description)
	}
	function.Parameters.Set(schema(t.Parameters))
	if t.Strict {
		function.Strict.Set(true)
	}
	hold(&out, wire.ChatCompletionFunctionTool{Type: wire.ChatCompletionFunctionToolTypeFunction, Function: function})
	return out
}

// schema is a tool's parameters: some servers want an object in any case.
func schema(parameters json.RawMessage) json.RawMessage {
	if parameters == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return parameters
}

func fromFormat(f engine.Format) (out nullable.Nullable[wire.ResponseFormat]) {
	var format wire.ResponseFormat
	switch f.Kind {
	case engine.FormatJSON:
		hold(&format, wire.ResponseFormatJSONObject{Type: wire.ResponseFormatJSONObjectTypeJSONObject})
	case engine.FormatSchema:
		name := cmp.Or(f.Name, "answer")
		hold(&format, wire.ResponseFormatJSONSchema{
			Type: wire.ResponseFormatJSONSchemaTypeJSONSchema,
			JSONSchema: wire.JSONSchemaFormat{Name: name, Schema: nullable.NewNullableWithValue(f.Schema),
				Strict: nullable.NewNullableWithValue(true)}, // a neutral format is always enforced
		})
	default:
		return nil
	}
	out.Set(format)
	return out
}

func fromStop(stop []string) (out nullable.Nullable[wire.StopConfiguration]) {
	if len(stop) == 0 {
		return nil
	}
	var configuration wire.StopConfiguration
	hold(&configuration, stop)
	out.Set(configuration)
	return out
}

func number[T any](p *T) (out nullable.Nullable[T]) {
	if p != nil {
		out.Set(*p)
	}
	return out
}

// hold puts one of its members into a union. The generated setters would sort
// the members of tool schemas.
func hold(union json.Unmarshaler, value any) {
	b, _ := plainjson.Marshal(value) // of the generated types, which can be encoded
	_ = union.UnmarshalJSON(b)
}
