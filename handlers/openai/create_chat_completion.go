package openai

import (
	"context"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// CreateChatCompletion answers a conversation.
func (a *API) CreateChatCompletion(ctx context.Context, in wire.CreateChatCompletionRequestObject) (wire.CreateChatCompletionResponseObject, error) {
	req, err := toRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	d := dialectOf(in.Body)
	events := d.name(x.Watch(req, a.engine.Generate(ctx, req), nil))
	h := head{id: newID("chatcmpl-"), created: a.clock().Unix(), model: req.Model}
	if !in.Body.StreamOrDefault() {
		response, err := engine.Collect(x.Hold(events))
		if err != nil {
			return nil, err
		}
		d.ignore(x, response.Unenforced)
		out := fromResponse(h, response, req.Logprobs != nil)
		d.whole(&out)
		return answer{x, out}, nil
	}

	stream, err := sse.Open(ctx, events)
	if err != nil {
		return nil, err
	}
	d.ignore(x, stream.Unenforced())
	return streamed{stream, d.encoder(newEncoder(h, req, wantsUsage(in.Body.StreamOptions), x))}, nil
}

func wantsUsage(in nullable.Nullable[wire.ChatCompletionStreamOptions]) bool {
	options, err := in.Get()
	return err == nil && options.IncludeUsageOrDefault()
}
