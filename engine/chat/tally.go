package chat

import (
	"errors"
	"math"

	"github.com/diglot/diglot/engine"
)

// errLeft says that nobody reads the events any more.
var errLeft = errors.New("the reader of the events left")

// tally is what one choice used up.
type tally struct {
	choice                        int
	cached, completion, reasoning int
	logprob                       float64 // of all tokens together
}

// usage adds up what the choices of a request used. The prompt is one for all
// of them. Whichever came first read what no earlier request had, and the
// others took that over, so the smallest cached part is the request's own.
func usage(prompt int, choices []tally) engine.Usage {
	u := engine.Usage{PromptTokens: prompt, CachedTokens: prompt}
	for _, t := range choices {
		u.CachedTokens = min(u.CachedTokens, t.cached)
		u.CompletionTokens += t.completion
		u.ReasoningTokens += t.reasoning
	}
	return u
}

// mean is the mean log probability of the tokens of an answer. An answer of
// none is worse than any other.
func (t tally) mean() float64 {
	if t.completion == 0 {
		return math.Inf(-1)
	}
	return t.logprob / float64(t.completion)
}
