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

// responder builds the response objects of one reply, whole or streamed.
type responder struct {
	base    wire.Response // in progress and without output: what all objects share
	summary bool          // show thinking as a summary
	newID   func(prefix string) string
	clock   func() time.Time
}

// newResponder makes a responder with the values of the request.
func newResponder(in *wire.CreateResponseRequest, newID func(prefix string) string, clock func() time.Time) (*responder, error) {
	functions, err := toFunctionTools(in)
	if err != nil {
		return nil, err
	}
	out := wire.NewResponse(newID("resp_"), clock().Unix(), wire.ResponseStatusInProgress, in.Model)
	out.Instructions = repeat(in.Instructions)
	out.MaxOutputTokens = repeat(in.MaxOutputTokens)
	out.PromptCacheKey = repeat(in.PromptCacheKey)
	out.Reasoning = fromReasoning(in.Reasoning)
	out.SafetyIdentifier = repeat(in.SafetyIdentifier)
	out.Tools = fromFunctionTools(functions)
	optional.Set(&out.FrequencyPenalty, in.FrequencyPenalty)
	optional.Set(&out.Metadata, in.Metadata)
	optional.Set(&out.ParallelToolCalls, in.ParallelToolCalls)
	optional.Set(&out.PresencePenalty, in.PresencePenalty)
	optional.Set(&out.Temperature, in.Temperature)
	optional.Set(&out.Text.Format, optional.Or(in.Text, wire.ResponseTextParam{}).Format)
	optional.Set(&out.ToolChoice, in.ToolChoice)
	optional.Set(&out.TopLogprobs, in.TopLogprobs)
	optional.Set(&out.TopP, in.TopP)
	optional.Set(&out.Truncation, in.Truncation)
	return &responder{base: out, summary: showsSummary(in), newID: newID, clock: clock}, nil
}

// use sets the values that are in use, as far as they are known.
func (r *responder) use(used engine.Used) {
	set(&r.base.Temperature, used.Sampling.Temperature)
	set(&r.base.TopP, used.Sampling.TopP)
	set(&r.base.FrequencyPenalty, used.Sampling.FrequencyPenalty)
	set(&r.base.PresencePenalty, used.Sampling.PresencePenalty)
	if used.MaxTokens != nil {
		r.base.MaxOutputTokens.Set(int64(*used.MaxTokens))
	}
	if !used.Truncate {
		r.base.Truncation = wire.ResponseTruncationDisabled
	}
	if reasoning, err := r.base.Reasoning.Get(); err == nil {
		reasoning.Effort = fromEffort(used.Reasoning)
		r.base.Reasoning.Set(reasoning)
	}
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// fromEffort returns null if the model's template decides how much to think.
func fromEffort(r engine.Reasoning) nullable.Nullable[wire.ReasoningEffort] {
	switch {
	case r.Mode == engine.ReasoningOff:
		return nullable.NewNullableWithValue(wire.ReasoningEffortNone)
	case r.Effort != "":
		return nullable.NewNullableWithValue(wire.ReasoningEffort(r.Effort))
	}
	return nullable.NewNullNullable[wire.ReasoningEffort]()
}

// repeat returns the request's value, or null.
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
	out := wire.NewResponseReasoning()
	out.Effort = repeat(asked.Effort)
	if summary := summaryOf(asked); summary != "" {
		out.Summary.Set(summary)
	}
	return nullable.NewNullableWithValue(out)
}

func fromFunctionTools(in []wire.ResponseFunctionToolParam) []wire.ResponseFunctionTool {
	out := make([]wire.ResponseFunctionTool, 0, len(in))
	for _, t := range in {
		tool := wire.NewResponseFunctionTool(t.Name)
		tool.Description, tool.Parameters, tool.Strict = repeat(t.Description), repeat(t.Parameters), repeat(t.Strict)
		out = append(out, tool)
	}
	return out
}

func (r *responder) fromResponse(in *engine.Response) wire.Response {
	r.use(in.Used)
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

// finish returns a complete response.
func (r *responder) finish(output []wire.ResponseOutputItem, reason engine.FinishReason, usage engine.Usage) wire.Response {
	out := r.base
	out.Output = output
	out.Usage.Set(fromResponseUsage(usage))
	if reason == engine.FinishMaxTokens {
		out.Status = wire.ResponseStatusIncomplete
		out.IncompleteDetails.Set(wire.NewResponseIncompleteDetails())
		return out
	}
	out.Status = wire.ResponseStatusCompleted
	out.CompletedAt.Set(r.clock().Unix())
	return out
}

// fail returns a response that an error cut short.
func (r *responder) fail(x *exchange.Exchange, output []wire.ResponseOutputItem, err *engine.Error) wire.Response {
	out := r.base
	out.Output = output
	out.Status = wire.ResponseStatusFailed
	out.Error.Set(fromResponseError(x, err))
	return out
}

// fromItemFinish returns the status of the last item; all others are completed.
func fromItemFinish(reason engine.FinishReason) wire.ResponseItemStatus {
	if reason == engine.FinishMaxTokens {
		return wire.ResponseItemStatusIncomplete
	}
	return wire.ResponseItemStatusCompleted
}

// itemPrefix begins the id of an item; some clients rely on it.
var itemPrefix = map[engine.BlockKind]string{
	engine.BlockText:      "msg_",
	engine.BlockReasoning: "rs_",
	engine.BlockToolCall:  "fc_",
}

// fromBlock makes an item of a block; in progress it has no content.
func (r *responder) fromBlock(b engine.Block, id string, status wire.ResponseItemStatus) wire.ResponseOutputItem {
	var item wire.ResponseOutputItem
	begun := status == wire.ResponseItemStatusInProgress
	switch b.Kind {
	case engine.BlockText:
		m := wire.NewResponseOutputMessage(id, status)
		if !begun {
			m.Content = append(m.Content, fromText(b.Text, b.Logprobs))
		}
		hold(&item, m)
	case engine.BlockToolCall:
		hold(&item, wire.NewResponseOutputFunctionCall(id, status, fromCallID(b.CallID), b.Name, b.Arguments))
	case engine.BlockReasoning:
		t := wire.NewResponseOutputReasoning(id, status)
		switch {
		case begun:
		case r.summary:
			t.Summary = append(t.Summary, wire.NewResponseSummaryText(b.Text))
		default:
			t.Content = append(t.Content, wire.NewResponseReasoningText(b.Text))
		}
		hold(&item, t)
	}
	return item
}

// hold puts a value into a union. The generated methods decode the value once more, which
// sorts its fields. It cannot fail: values are strings, numbers and lists of them.
func hold(union json.Unmarshaler, value any) {
	b, _ := plainjson.Marshal(value)
	_ = union.UnmarshalJSON(b)
}

func fromText(text string, logprobs []engine.TokenLogprob) wire.ResponseOutputText {
	out := wire.NewResponseOutputText(text)
	out.Logprobs = fromTextLogprobs(logprobs)
	return out
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
