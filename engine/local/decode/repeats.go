package decode

import "github.com/diglot/diglot/engine"

// repeats are the tokens that a repeat penalty applies to: the last ones of
// prompt and answer. The frequency and presence penalties are another
// matter: they are those of the public styles and count what the answer has
// said so far.
type repeats struct {
	penalty float32
	window  int // -1: no end
	recent  []int32
	counts  map[int32]int // of the tokens in recent, or of all where the window has no end
}

// newRepeats is nil where there is no penalty, or nothing that it looks at.
func newRepeats(s engine.Sampling, prompt []int32) *repeats {
	if *s.RepeatPenalty <= 0 || *s.RepeatPenalty == 1 || *s.RepeatLastN == 0 {
		return nil
	}
	r := &repeats{penalty: float32(*s.RepeatPenalty), window: max(*s.RepeatLastN, -1), counts: map[int32]int{}}
	if r.window > 0 {
		prompt = prompt[max(0, len(prompt)-r.window):]
	}
	for _, token := range prompt {
		r.add(token)
	}
	return r
}

func (r *repeats) add(token int32) {
	r.counts[token]++
	if r.window < 0 {
		return
	}
	r.recent = append(r.recent, token)
	if len(r.recent) <= r.window {
		return
	}
	gone := r.recent[0]
	r.recent = r.recent[1:]
	if r.counts[gone]--; r.counts[gone] == 0 {
		delete(r.counts, gone)
	}
}

// adjust makes the tokens less likely, as llama.cpp does: dividing alone
// would make one with a negative logit likelier.
func (r *repeats) adjust(logits []float32) {
	for token := range r.counts {
		switch {
		case token < 0 || int(token) >= len(logits): // stands for a part of an image
		case logits[token] <= 0:
			logits[token] *= r.penalty
		default:
			logits[token] /= r.penalty
		}
	}
}
