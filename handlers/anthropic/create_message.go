package anthropic

import (
	"context"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// CreateMessage answers a conversation.
func (a *API) CreateMessage(ctx context.Context, in wire.CreateMessageRequestObject) (wire.CreateMessageResponseObject, error) {
	req, tools, err := toRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	locateTools(x, tools)
	renameFormat(x, in.Body.OutputConfig, in.Body.OutputFormat)
	events := x.HideReasoning("ThinkingBlock", x.Watch(req, wholeCalls(a.engine.Generate(ctx, req)), names(in.Body, req)))
	h := head{id: newID("msg_"), model: req.Model}
	if !in.Body.StreamOrDefault() {
		response, err := engine.Collect(x.Hold(events))
		if err != nil {
			return nil, err
		}
		ignore(x, response.Unenforced)
		return answer{x, fromResponse(h, response)}, nil
	}

	stream, err := sse.Open(ctx, events)
	if err != nil {
		return nil, err
	}
	ignore(x, stream.Unenforced())
	return streamed{stream, newEncoder(h, x)}, nil
}

// renameFormat makes errors name the field that holds the format.
func renameFormat(x *exchange.Exchange, config nullable.Nullable[wire.OutputConfig], older nullable.Nullable[wire.JSONOutputFormat]) {
	_, absent := optional.Or(config, wire.OutputConfig{}).Format.Get()
	if _, err := older.Get(); err == nil && absent != nil {
		x.Rename("output_config.format", "output_format")
	}
}

// names maps parameters of [engine.Start] to this style's names. Effort is a parameter of
// its own here, of the request or of a message, and has no effect without thinking.
func names(in *wire.CreateMessageRequest, req *engine.Request) map[string]string {
	switch {
	case req.Reasoning.Mode != engine.ReasoningOff:
		return map[string]string{"reasoning_effort": "thinking"}
	case optional.Or(optional.Or(in.OutputConfig, wire.OutputConfig{}).Effort, "") == "":
		return map[string]string{"reasoning_effort": "messages[].output_config.effort"}
	}
	return map[string]string{"reasoning_effort": "output_config.effort"}
}

// ignore reports the parts of tool schemas that no grammar can enforce.
func ignore(x *exchange.Exchange, places []engine.Place) {
	for _, p := range places {
		x.Ignore(x.Locate(fromPlace(p)))
	}
}
