package upstream

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
)

// count is a whole number as servers write it: 3, 3.0, "3". What is none is 0:
// no answer is worth less for a count that cannot be read.
type count int

// maxNumber is the most bytes of what is read as a number.
const maxNumber = 400

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(b []byte) error {
	if len(b) > maxNumber {
		*c = 0
		return nil
	}
	f, err := strconv.ParseFloat(cmp.Or(word(b), string(b)), 64)
	if err != nil || math.IsNaN(f) {
		f = 0
	}
	const most = 1 << 53
	*c = count(max(-most, min(most, f)))
	return nil
}

// counts are what a reply tells of its tokens.
type counts struct {
	PromptTokens            count          `json:"prompt_tokens"`
	CompletionTokens        count          `json:"completion_tokens"`
	PromptTokensDetails     *promptUsage   `json:"prompt_tokens_details"`
	CompletionTokensDetails *completeUsage `json:"completion_tokens_details"`
}

type promptUsage struct {
	CachedTokens count `json:"cached_tokens"`
}

type completeUsage struct {
	ReasoningTokens count `json:"reasoning_tokens"`
}

// UnmarshalJSON implements [json.Unmarshaler]. What is of another form counts
// as not told.
func (u *counts) UnmarshalJSON(b []byte) error {
	type plain counts
	_ = json.Unmarshal(b, (*plain)(u))
	return nil
}
