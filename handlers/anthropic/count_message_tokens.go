package anthropic

import (
	"context"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
)

// CountMessageTokens counts the prompt of a conversation.
func (a *API) CountMessageTokens(ctx context.Context, in wire.CountMessageTokensRequestObject) (wire.CountMessageTokensResponseObject, error) {
	req, tools, err := toCountRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	locateTools(x, tools)
	renameFormat(x, in.Body.OutputConfig, in.Body.OutputFormat)
	x.SetModel(req.Model)
	tokens, err := a.engine.Count(ctx, req)
	if err != nil {
		return nil, err
	}
	x.SetUsage(engine.Usage{PromptTokens: tokens})
	return answer{x, wire.MessageTokensCount{InputTokens: tokens}}, nil
}

// toCountRequest uses the mapping of the message request, so that the two cannot differ.
func toCountRequest(in *wire.CountMessageTokensRequest) (*engine.Request, []string, error) {
	req, tools, err := toRequest(&wire.CreateMessageRequest{
		Model:        in.Model,
		Messages:     in.Messages,
		System:       in.System,
		Tools:        in.Tools,
		ToolChoice:   in.ToolChoice,
		Thinking:     in.Thinking,
		OutputConfig: in.OutputConfig,
		OutputFormat: in.OutputFormat,
	})
	if err != nil {
		return nil, nil, err
	}
	req.MaxTokens = nil // this request has no such field
	return req, tools, nil
}
