package openai

import (
	"errors"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// toCompletionRequest maps a request that fits the document. Its errors are rules that a
// schema cannot state.
func toCompletionRequest(in *wire.CreateCompletionRequest) (*engine.Request, error) {
	text, err := toPromptText(in.Prompt)
	if err != nil {
		return nil, err
	}
	if err := checkBestOf(in); err != nil {
		return nil, err
	}
	bias, err := toLogitBias(optional.Or(in.LogitBias, nil))
	if err != nil {
		return nil, err
	}
	format, err := toFormat(in.ResponseFormat)
	if err != nil {
		return nil, err
	}
	stop, err := toStop(in.Stop)
	if err != nil {
		return nil, err
	}
	return &engine.Request{
		Model: in.Model,
		Prompt: &engine.Prompt{
			Text:   text,
			Suffix: optional.Or(in.Suffix, ""),
			Echo:   optional.Or(in.Echo, false),
		},
		Sampling: engine.Sampling{
			Temperature:      optional.Pointer(in.Temperature),
			TopP:             optional.Pointer(in.TopP),
			TopK:             optional.Count(in.TopK),
			MinP:             optional.Pointer(in.MinP),
			RepeatPenalty:    optional.Pointer(in.RepeatPenalty),
			FrequencyPenalty: optional.Pointer(in.FrequencyPenalty),
			PresencePenalty:  optional.Pointer(in.PresencePenalty),
			Seed:             optional.Pointer(in.Seed),
			LogitBias:        bias,
		},
		MaxTokens: optional.Count(in.MaxTokens),
		Stop:      stop,
		Format:    format,
		Choices:   in.NOrDefault(),
		BestOf:    optional.Or(in.BestOf, 0),
		Logprobs:  optional.Pointer(in.Logprobs),
	}, nil
}

// toPromptText accepts a string, or a list of one string.
func toPromptText(in wire.CompletionPrompt) (string, error) {
	if text, err := in.AsCompletionText(); err == nil {
		return text, nil
	}
	texts, err := in.AsCompletionTexts()
	if err != nil {
		return "", err
	}
	if len(texts) != 1 {
		return "", errors.New("prompt has several texts, which the document refuses")
	}
	return texts[0], nil
}

// checkBestOf checks best_of against other fields. It cannot stream, as the best
// continuations are known only at the end.
func checkBestOf(in *wire.CreateCompletionRequest) error {
	bestOf, n := optional.Or(in.BestOf, 0), in.NOrDefault()
	switch {
	case bestOf > n && in.StreamOrDefault():
		return exchange.Invalid("best_of", "The best of several continuations cannot be streamed; best_of must be n, which is %d.", n)
	}
	return nil
}
