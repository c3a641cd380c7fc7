package decode

import (
	"math"
	"slices"
)

// Constrained sampling. Where the grammar leaves few tokens, the choice is one of them.
// Elsewhere the unconstrained choice is tried first: nearly always it is allowed, and
// testing it costs one match. Only if it is rejected are other tokens matched against
// the grammar.

// maxTried is how many of the top tokens are matched before the whole vocabulary.
const maxTried = 256

// maxAllowed is how many allowed candidates are collected without top_k.
const maxAllowed = 64

// allows reports whether the constraint allows the token. Of control tokens, only
// markers of the output format are text that it can match.
func (s *sampler) allows(token int32) bool {
	if s.vocab.Is(token, KindEndOfTurn) && s.constraint.Complete() {
		return true
	}
	text := s.vocab.output(token, s.markers)
	return len(text) > 0 && s.constraint.Allows(text)
}

// pickFew samples from the few tokens that the constraint or the bias allows.
func (s *sampler) pickFew(logits []float32, few []int32, u float64) (int32, error) {
	if len(few) == 0 {
		return 0, s.refused()
	}
	s.buf = s.buf[:0]
	for _, token := range few {
		if l := logits[token]; l > float32(math.Inf(-1)) { // false for NaN
			s.buf = append(s.buf, candidate{token, l})
		}
	}
	if len(s.buf) == 0 {
		return 0, errNoLogits
	}
	slices.SortFunc(s.buf, byLogit)
	kept := s.buf
	if k := *s.settings.TopK; k > 0 {
		kept = kept[:min(k, len(kept))]
	}
	if s.typical() {
		kept = typical(kept, *s.settings.TypicalP)
	}
	return s.draw(s.truncate(kept, weight(kept)), u), nil
}

// pickAllowed samples from the tokens that the constraint allows.
func (s *sampler) pickAllowed(logits []float32, u float64) (int32, error) {
	limit := maxAllowed
	if k := *s.settings.TopK; k > 0 {
		limit = min(k, maxAllowed)
	}
	if *s.settings.Temperature == 0 {
		limit = 1
	}
	s.buf = top(logits, maxTried, s.buf)
	kept := s.buf[:0]
	for _, c := range s.buf {
		if len(kept) == limit {
			break
		}
		if s.allows(c.token) {
			kept = append(kept, c)
		}
	}
	if len(kept) == 0 {
		return s.bestAllowed(logits)
	}
	return s.draw(s.truncate(kept, weight(kept)), u), nil
}

// bestAllowed returns the allowed token with the largest logit. It matches only
// tokens that would be better than the best so far.
func (s *sampler) bestAllowed(logits []float32) (int32, error) {
	best := candidate{token: -1}
	for i, l := range logits {
		c := candidate{int32(i), l}
		if (best.token < 0 || c.before(best)) && s.allows(c.token) {
			best = c
		}
	}
	if best.token < 0 {
		return 0, s.refused()
	}
	return best.token, nil
}
