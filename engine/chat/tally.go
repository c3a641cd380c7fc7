package chat

import (
	"errors"
	"math"

	"github.com/diglot/diglot/engine"
)

// errStopped says that the consumer of the events has stopped.
var errStopped = errors.New("the consumer of the events stopped")

// tally is the usage of one choice.
type tally struct {
	choice                        int
	cached, completion, reasoning int
	logprob                       float64 // sum over the tokens
}

// usage sums the usage of the choices, which share one prompt. The first choice
// prefills what no earlier request had cached, and the others find that cached,
// so the smallest count is that of the request.
func usage(prompt int, choices []tally) engine.Usage {
	u := engine.Usage{PromptTokens: prompt, CachedTokens: prompt}
	for _, t := range choices {
		u.CachedTokens = min(u.CachedTokens, t.cached)
		u.CompletionTokens += t.completion
		u.ReasoningTokens += t.reasoning
	}
	return u
}

// mean is the mean log probability per token. An empty answer ranks last.
func (t tally) mean() float64 {
	if t.completion == 0 {
		return math.Inf(-1)
	}
	return t.logprob / float64(t.completion)
}
