package openai

import (
	"encoding/json"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
	"github.com/diglot/diglot/internal/plainjson"
)

// responder makes the objects of one reply, whole or in a stream.
type responder struct {
	base    wire.Response // in progress and without output: what all objects have in common
	summary bool          // thinking is shown as a summary
	newID   func(prefix string) string
	clock   func() time.Time
}

// newResponder makes a responder that repeats what the request says.
func newResponder(in *wire.CreateResponseRequest, newID func(prefix string) string, clock func() time.Time) (*responder, error) {
	functions, err := toFunctionTools(in)
	if err != nil {
		return nil, err
	}
	r := &responder{summary: showsSummary(in), newID: newID, clock: clock}
	r.base = wire.Response{
		ID:                 newID("resp_"),
		Object:             wire.ResponseObjectResponse,
		CreatedAt:          clock().Unix(),
		Status:             wire.ResponseStatusInProgress,
		Model:              in.Model,
		Output:             []wire.ResponseOutputItem{},
		Error:              nullable.NewNullNullable[wire.ResponseError](),
		IncompleteDetails:  nullable.NewNullNullable[wire.ResponseIncompleteDetails](),
		Usage:              nullable.NewNullNullable[wire.ResponseUsage](),
		CompletedAt:        nullable.NewNullNullable[int64](),
		FrequencyPenalty:   optional.Or(in.FrequencyPenalty, 0),
		Instructions:       repeat(in.Instructions),
		MaxOutputTokens:    repeat(in.MaxOutputTokens),
		MaxToolCalls:       nullable.NewNullNullable[int](),
		Metadata:           optional.Or(in.Metadata, wire.ResponseMetadata{}),
		ParallelToolCalls:  optional.Or(in.ParallelToolCalls, true),
		PresencePenalty:    optional.Or(in.PresencePenalty, 0),
		PreviousResponseID: nullable.NewNullNullable[string](),
		PromptCacheKey:     repeat(in.PromptCacheKey),
		Reasoning:          fromReasoning(in.Reasoning),
		SafetyIdentifier:   repeat(in.SafetyIdentifier),
		ServiceTier:        wire.ResponseServiceTierDefault,
		Temperature:        optional.Or(in.Temperature, 1),
		Tools:              fromFunctionTools(functions),
		TopLogprobs:        optional.Or(in.TopLogprobs, 0),
		TopP:               optional.Or(in.TopP, 1),
		Truncation:         optional.Or(in.Truncation, wire.ResponseTruncationDisabled),
	}
	if r.base.ToolChoice, err = fromToolChoice(in.ToolChoice); err != nil {
		return nil, err
	}
	r.base.Text.Format, err = fromTextFormat(in.Text)
	return r, err
}

// repeat returns the value of the request, or null.
func repeat[T any](in nullable.Nullable[T]) nullable.Nullable[T] {
	if v, err := in.Get(); err == nil {
		return nullable.NewNullableWithValue(v)
	}
	return nullable.NewNullNullable[T]()
}

func fromReasoning(in nullable.Nullable[wire.ResponseReasoningParam]) nullable.Nullable[wire.ResponseReasoning] {
	asked, err := in.Get()
	if err != nil {
		return nullable.NewNullNullable[wire.ResponseReasoning]()
	}
	out := wire.ResponseReasoning{Effort: repeat(asked.Effort), Summary: nullable.NewNullNullable[wire.ResponseReasoningSummary]()}
	if summary := summaryOf(asked); summary != "" {
		out.Summary.Set(summary)
	}
	return nullable.NewNullableWithValue(out)
}

func fromFunctionTools(in []wire.ResponseFunctionToolParam) []wire.ResponseFunctionTool {
	out := make([]wire.ResponseFunctionTool, 0, len(in))
	for _, t := range in {
		out = append(out, wire.ResponseFunctionTool{
			Type:        wire.ResponseFunctionToolTypeFunction,
			Name:        t.Name,
			Description: repeat(t.Description),
			Parameters:  repeat(t.Parameters),
			Strict:      repeat(t.Strict),
		})
	}
	return out
}

func fromToolChoice(in nullable.Nullable[wire.ResponseToolChoice]) (wire.ResponseToolChoice, error) {
	choice, err := in.Get()
	if err == nil {
		return choice, nil
	}
	err = choice.FromResponseToolChoiceMode(wire.ResponseToolChoiceModeAuto)
	return choice, err
}

func fromTextFormat(in nullable.Nullable[wire.ResponseTextParam]) (wire.ResponseTextFormat, error) {
	format, err := optional.Or(in, wire.ResponseTextParam{}).Format.Get()
	if err == nil {
		return format, nil
	}
	err = format.FromResponseFormatText(wire.ResponseFormatText{Type: wire.ResponseFormatTextTypeText})
	return format, err
}

func (r *responder) fromResponse(in *engine.Response) wire.Response {
	choice := in.Choices[0] // a response has one
	output := make([]wire.ResponseOutputItem, 0, len(choice.Blocks))
	for i, b := range choice.Blocks {
		status := wire.ResponseItemStatusCompleted
		if i == len(choice.Blocks)-1 {
			status = fromItemFinish(choice.Reason)
		}
		output = append(output, r.fromBlock(b, r.newID(itemPrefix[b.Kind]), status))
	}
	return r.finish(output, choice.Reason, in.Usage)
}

// finish is the response that came to its end.
func (r *responder) finish(output []wire.ResponseOutputItem, reason engine.FinishReason, usage engine.Usage) wire.Response {
	out := r.base
	out.Output = output
	out.Usage.Set(fromResponseUsage(usage))
	if reason == engine.FinishMaxTokens {
		out.Status = wire.ResponseStatusIncomplete
		out.IncompleteDetails.Set(wire.ResponseIncompleteDetails{Reason: wire.ResponseIncompleteDetailsReasonMaxOutputTokens})
		return out
	}
	out.Status = wire.ResponseStatusCompleted
	out.CompletedAt.Set(r.clock().Unix())
	return out
}

// fail is the response that an error cut short.
func (r *responder) fail(x *exchange.Exchange, output []wire.ResponseOutputItem, err *engine.Error) wire.Response {
	out := r.base
	out.Output = output
	out.Status = wire.ResponseStatusFailed
	out.Error.Set(fromResponseError(x, err))
	return out
}

// fromItemFinish is the status of the last item; all others are completed.
func fromItemFinish(reason engine.FinishReason) wire.ResponseItemStatus {
	if reason == engine.FinishMaxTokens {
		return wire.ResponseItemStatusIncomplete
	}
	return wire.ResponseItemStatusCompleted
}

// itemPrefix begins the id of an item; clients go by the prefix at times.
var itemPrefix = map[engine.BlockKind]string{
	engine.BlockText:      "msg_",
	engine.BlockReasoning: "rs_",
	engine.BlockToolCall:  "fc_",
}

// fromBlock makes an item of a block. One in progress has no content yet.
func (r *responder) fromBlock(b engine.Block, id string, status wire.ResponseItemStatus) wire.ResponseOutputItem {
	var item wire.ResponseOutputItem
	begun := status == wire.ResponseItemStatusInProgress
	switch b.Kind {
	case engine.BlockText:
		m := wire.ResponseOutputMessage{
			ID: id, Type: wire.ResponseOutputMessageTypeMessage, Status: status,
			Role: wire.ResponseOutputMessageRoleAssistant, Content: []wire.ResponseOutputText{},
		}
		if !begun {
			m.Content = append(m.Content, fromText(b.Text, b.Logprobs))
		}
		hold(&item, m)
	case engine.BlockToolCall:
		hold(&item, wire.ResponseOutputFunctionCall{
			ID: id, Type: wire.ResponseOutputFunctionCallTypeFunctionCall, Status: status,
			CallID: fromCallID(b.CallID), Name: b.Name, Arguments: b.Arguments,
		})
	case engine.BlockReasoning:
		t := wire.ResponseOutputReasoning{
			ID: id, Type: wire.ResponseOutputReasoningTypeReasoning, Status: status, Summary: []wire.ResponseSummaryText{},
		}
		switch {
		case begun:
		case r.summary:
			t.Summary = append(t.Summary, fromSummary(b.Text))
		default:
			t.Content = append(t.Content, fromThought(b.Text))
		}
		hold(&item, t)
	}
	return item
}

// hold puts a value into a union. The methods that are generated for this
// decode the value once more, which sorts its members. It cannot fail: values
// are strings, numbers and lists of them.
func hold(union json.Unmarshaler, value any) {
	b, _ := plainjson.Marshal(value)
	_ = union.UnmarshalJSON(b)
}

func fromText(text string, logprobs []engine.TokenLogprob) wire.ResponseOutputText {
	return wire.ResponseOutputText{
		Type: wire.ResponseOutputTextTypeOutputText, Text: text,
		Annotations: []wire.JSONObject{}, Logprobs: fromTextLogprobs(logprobs),
	}
}

func fromSummary(text string) wire.ResponseSummaryText {
	return wire.ResponseSummaryText{Type: wire.ResponseSummaryTextTypeSummaryText, Text: text}
}

func fromThought(text string) wire.ResponseReasoningText {
	return wire.ResponseReasoningText{Type: wire.ResponseReasoningTextTypeReasoningText, Text: text}
}

func fromTextLogprobs(tokens []engine.TokenLogprob) []wire.ResponseLogprob {
	out := make([]wire.ResponseLogprob, 0, len(tokens))
	for _, t := range tokens {
		top := make([]wire.ResponseTopLogprob, 0, len(t.Top))
		for _, alternative := range t.Top {
			text, bytes := fromToken(alternative.Token)
			top = append(top, wire.ResponseTopLogprob{Token: text, Logprob: alternative.Logprob, Bytes: optional.Or(bytes, nil)})
		}
		text, bytes := fromToken(t.Token)
		out = append(out, wire.ResponseLogprob{Token: text, Logprob: t.Logprob, Bytes: optional.Or(bytes, nil), TopLogprobs: top})
	}
	return out
}

func fromResponseUsage(u engine.Usage) wire.ResponseUsage {
	return wire.ResponseUsage{
		InputTokens:         u.PromptTokens,
		InputTokensDetails:  wire.ResponseInputTokensDetails{CachedTokens: u.CachedTokens},
		OutputTokens:        u.CompletionTokens,
		OutputTokensDetails: wire.ResponseOutputTokensDetails{ReasoningTokens: u.ReasoningTokens},
		TotalTokens:         u.PromptTokens + u.CompletionTokens,
	}
}
