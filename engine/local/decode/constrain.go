package decode

// Choosing under a constraint. The token that the model would say anyway is
// tried first, which is nearly always right and costs one question. Only
// where it is refused are others looked at.

// tried is how many of the likeliest tokens are asked about, one by one,
// before the whole vocabulary is.
const tried = 256

// enough is how many allowed candidates are collected where top_k does not
// say: what comes after them is too unlikely to matter.
const enough = 64

// allows reports whether the text may go on with the token. Control tokens
// say nothing that a constraint could follow: only the markers that the
// output format knows are text.
func (s *sampler) allows(token int32) bool {
	if s.vocab.Is(token, KindEndOfTurn) && s.constraint.Complete() {
		return true
	}
	text := s.vocab.output(token, s.markers)
	return len(text) > 0 && s.constraint.Allows(text)
}

// pickAllowed chooses among the tokens that the constraint allows.
func (s *sampler) pickAllowed(logits []float32, u float64) (int32, error) {
	limit := enough
	if k := *s.settings.TopK; k > 0 {
		limit = min(k, enough)
	}
	if *s.settings.Temperature == 0 {
		limit = 1
	}
	s.buf = top(logits, tried, s.buf)
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
		return s.likeliestAllowed(logits)
	}
	return s.draw(s.truncate(kept, weight(kept)), u), nil
}

// likeliestAllowed asks about every token that is likelier than the best
// allowed one so far.
func (s *sampler) likeliestAllowed(logits []float32) (int32, error) {
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
