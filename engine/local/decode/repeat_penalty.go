package decode

import "github.com/diglot/diglot/engine"

// repeatPenalty is llama.cpp's repeat penalty, over the last tokens of prompt and
// output. The frequency and presence penalties of the public APIs count output
// tokens alone.
type repeatPenalty struct {
	penalty float32
	window  int // -1: unlimited
	recent  []int32
	counts  map[int32]int // of the tokens in the window
}

// newRepeatPenalty returns nil if the settings have no effect.
func newRepeatPenalty(s engine.Sampling, prompt []int32) *repeatPenalty {
	if *s.RepeatPenalty <= 0 || *s.RepeatPenalty == 1 || *s.RepeatLastN == 0 {
		return nil
	}
	r := &repeatPenalty{penalty: float32(*s.RepeatPenalty), window: max(*s.RepeatLastN, -1), counts: map[int32]int{}}
	if r.window > 0 {
		prompt = prompt[max(0, len(prompt)-r.window):]
	}
	for _, token := range prompt {
		r.add(token)
	}
	return r
}

func (r *repeatPenalty) add(token int32) {
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

// adjust lowers logits like llama.cpp: dividing a negative one would raise it.
func (r *repeatPenalty) adjust(logits []float32) {
	for token := range r.counts {
		switch {
		case token < 0 || int(token) >= len(logits): // of an image
		case logits[token] <= 0:
			logits[token] *= r.penalty
		default:
			logits[token] /= r.penalty
		}
	}
}
