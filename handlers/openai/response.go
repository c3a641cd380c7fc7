package openai

import (
	"crypto/rand"
	"strings"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

// head holds the fields that a reply and all chunks of a stream share.
type head struct {
	id      string
	created int64 // seconds since 1970
	model   string
}

func newID(prefix string) string { return prefix + rand.Text() }

func fromResponse(h head, r *engine.Response, logprobs bool) wire.ChatCompletion {
	out := wire.NewChatCompletion(h.id, h.created, h.model, fromUsage(r.Usage))
	for i, choice := range r.Choices {
		out.Choices = append(out.Choices, fromChoice(i, choice, logprobs))
	}
	return out
}

func fromChoice(index int, choice engine.Choice, logprobs bool) wire.ChatCompletionChoice {
	out := wire.NewChatCompletionChoice(index, fromFinishReason[choice.Reason])
	out.Message = fromBlocks(choice.Blocks)
	if logprobs {
		var all []engine.TokenLogprob
		for _, b := range choice.Blocks {
			all = append(all, b.Logprobs...)
		}
		out.Logprobs.Set(fromLogprobs(all))
	}
	return out
}

// fromBlocks flattens the blocks of an answer: this style has one text, one reasoning text
// and a list of calls.
func fromBlocks(blocks []engine.Block) wire.ChatCompletionMessage {
	out := wire.NewChatCompletionMessage()
	var text, reasoning strings.Builder
	for _, b := range blocks {
		switch b.Kind {
		case engine.BlockText:
			text.WriteString(b.Text)
		case engine.BlockReasoning:
			reasoning.WriteString(b.Text)
		case engine.BlockToolCall:
			call := wire.FunctionCall{Name: b.Name, Arguments: b.Arguments}
			out.ToolCalls = append(out.ToolCalls, wire.NewChatCompletionMessageFunctionToolCall(fromCallID(b.CallID), call))
		}
	}
	if text.Len() > 0 || len(out.ToolCalls) == 0 {
		out.Content.Set(text.String())
	}
	if reasoning.Len() > 0 {
		thought := reasoning.String()
		out.ReasoningContent, out.Reasoning = &thought, &thought
	}
	return out
}

var fromFinishReason = map[engine.FinishReason]wire.FinishReason{
	engine.FinishEndOfTurn:    wire.FinishReasonStop,
	engine.FinishStopSequence: wire.FinishReasonStop,
	engine.FinishMaxTokens:    wire.FinishReasonLength,
	engine.FinishToolCalls:    wire.FinishReasonToolCalls,
}

func fromUsage(u engine.Usage) wire.CompletionUsage {
	return wire.CompletionUsage{
		PromptTokens:            u.PromptTokens,
		CompletionTokens:        u.CompletionTokens,
		TotalTokens:             u.PromptTokens + u.CompletionTokens,
		PromptTokensDetails:     &wire.PromptTokensDetails{CachedTokens: u.CachedTokens},
		CompletionTokensDetails: &wire.CompletionTokensDetails{ReasoningTokens: u.ReasoningTokens},
	}
}

func fromLogprobs(tokens []engine.TokenLogprob) wire.ChatCompletionLogprobs {
	content := make([]wire.ChatCompletionTokenLogprob, 0, len(tokens))
	for _, t := range tokens {
		top := make([]wire.TopLogprob, 0, len(t.Top))
		for _, alternative := range t.Top {
			text, bytes := fromToken(alternative.Token)
			top = append(top, wire.TopLogprob{Token: text, Logprob: alternative.Logprob, Bytes: bytes})
		}
		text, bytes := fromToken(t.Token)
		content = append(content, wire.ChatCompletionTokenLogprob{Token: text, Logprob: t.Logprob, Bytes: bytes, TopLogprobs: top})
	}
	out := wire.NewChatCompletionLogprobs()
	out.Content.Set(content)
	return out
}

// fromToken returns a token as text and as bytes, since it may be part of a character.
func fromToken(token []byte) (string, nullable.Nullable[[]int]) {
	bytes := make([]int, len(token))
	for i, b := range token {
		bytes[i] = int(b)
	}
	return engine.DecodeText(token), nullable.NewNullableWithValue(bytes)
}
