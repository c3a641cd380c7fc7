package openai

import (
	"context"
	"errors"
	"net/http"

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
	events := x.Watch(req, a.engine.Generate(ctx, req))
	h := head{id: newID("chatcmpl-"), created: a.clock().Unix(), model: req.Model}
	if !valueOr(in.Body.Stream, false) {
		response, err := engine.Collect(events)
		if err != nil {
			return nil, err
		}
		ignore(x, response.Unenforced)
		return wire.CreateChatCompletion200JSONResponse(fromResponse(h, response, req.Logprobs != nil)), nil
	}

	stream, err := sse.Open(ctx, events)
	if err != nil {
		return nil, err
	}
	ignore(x, stream.Unenforced())
	return chatCompletionStream{x, stream, newEncoder(h, req, includeUsage(in.Body))}, nil
}

// chatCompletionStream is the reply to a request with stream: true.
type chatCompletionStream struct {
	exchange *exchange.Exchange
	stream   *sse.Stream
	encoder  *encoder
}

// VisitCreateChatCompletionResponse writes the stream. An error after the
// headers has been told in the stream, so it is kept from the caller, who
// would write a second status.
func (s chatCompletionStream) VisitCreateChatCompletionResponse(w http.ResponseWriter) error {
	if err := s.stream.Serve(w, s.encoder); err != nil {
		s.exchange.Fail(err)
		if aborted := (*sse.Aborted)(nil); errors.As(err, &aborted) {
			panic(http.ErrAbortHandler) // net/http's own way to break off a reply
		}
	}
	return nil
}

func includeUsage(body *wire.CreateChatCompletionRequest) bool {
	options, err := body.StreamOptions.Get()
	return err == nil && valueOr(options.IncludeUsage, false)
}

// ignore names the parts of tool schemas that no grammar can enforce.
func ignore(x *exchange.Exchange, places []engine.Place) {
	for _, p := range places {
		x.Ignore(fromPlace(p))
	}
}
