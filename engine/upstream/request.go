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

// Operations, by path.
const (
	chatCompletions = "chat/completions"
	completions     = "completions"
	embeddings      = "embeddings"
	images          = "images/generations"
)

const jsonType = "application/json"

// chat asks for a chat completion.
func (e *Engine) chat(req *engine.Request) operation {
	return operation{
		name: chatCompletions,
		send: func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
			return e.client.CreateChatCompletionWithBody(ctx, jsonType, in, e.rewriteURL, dress)
		},
		build: func(l *fallback) (*body, error) {
			m := newOptionalFields(l)
			m.stream()
			return e.fromRequest(req, m)
		},
		affinity: affinity(e.config.Model, e.config.Examples, req),
	}
}

// fromRequest maps a conversation, and adds its optional fields to m.
func (e *Engine) fromRequest(req *engine.Request, m *optionalFields) (*body, error) {
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
	if req.Truncate { // this style has no field for it
		m.ignored = append(m.ignored, "truncation")
	}
	b, err := m.body(out)
	if err == nil {
		b.tools = kept
	}
	return b, err
}

// fromTools maps the tools that may be called, and returns their indexes in the
// request. The others are omitted: few servers support more than a required
// call, and with a single tool that forces the tool.
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
		setUnion(&choice, mode)
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
	setUnion(&out, wire.ChatCompletionFunctionTool{Type: wire.ChatCompletionFunctionToolTypeFunction, Function: function})
	return out
}

// schema returns a tool's parameters, never nil: some servers require an object.
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
		setUnion(&format, wire.ResponseFormatJSONObject{Type: wire.ResponseFormatJSONObjectTypeJSONObject})
	case engine.FormatSchema:
		name := cmp.Or(f.Name, "answer")
		setUnion(&format, wire.ResponseFormatJSONSchema{
			Type: wire.ResponseFormatJSONSchemaTypeJSONSchema,
			JSONSchema: wire.JSONSchemaFormat{Name: name, Schema: nullable.NewNullableWithValue(f.Schema),
				Strict: nullable.NewNullableWithValue(true)}, // neutral formats are always enforced
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
	setUnion(&configuration, stop)
	out.Set(configuration)
	return out
}

func optional[T any](p *T) (out nullable.Nullable[T]) {
	if p != nil {
		out.Set(*p)
	}
	return out
}

// setUnion sets the value of a union. The generated setters would sort the fields of
// tool schemas.
func setUnion(union json.Unmarshaler, value any) {
	b, _ := plainjson.Marshal(value) // generated types always encode
	_ = union.UnmarshalJSON(b)
}
