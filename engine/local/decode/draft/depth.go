package draft

// Depth decides how far a model guesses ahead of a step. Each token further takes a
// step of that model, and is worth it as long as more tokens are made per second.
type Depth struct {
	step, model *Pace
	tokens      float64 // that the step makes, as far as can be expected
	time        float64 // of the step and of the guesses, in steps with one row
}

// NewDepth begins with what [Plan] expects of a step.
func NewDepth(tokens float64, rows int, step, model *Pace) Depth {
	return Depth{step: step, model: model, tokens: tokens, time: step.of(rows)}
}

// firstRatio is assumed before a step of the model that guesses was measured. It is
// that of a model with a quarter of the weights.
const firstRatio = 0.25

// unmeasured is for what a guess costs beside the steps: its token is chosen, and
// weights and cells take the place of others in the CPU's caches.
const unmeasured = 1.1

// of is the time that the guessing model takes for rows, in steps with one row.
func (d *Depth) of(rows int) float64 {
	ratio := firstRatio
	if d.step.one > 0 && d.model.one > 0 {
		ratio = d.model.one / d.step.one
	}
	return unmeasured * ratio * d.model.of(rows)
}

// Row reports whether a guess is worth its row in the step, by the chance that it is right.
func (d *Depth) Row(chance float64) bool { return d.better(chance, d.step.share) }

// Further reports whether guesses, one for each of some sequences, are worth a step of
// the model with rows. gain is the sum of their chances. If so they are counted.
func (d *Depth) Further(gain float64, sequences, rows int) bool {
	took := d.of(rows) + d.step.share*float64(sequences)
	if !d.better(gain, took) {
		return false
	}
	d.tokens += gain
	d.time += took
	return true
}

func (d *Depth) better(gain, took float64) bool {
	return (d.tokens+gain)*d.time > d.tokens*(d.time+took)
}

// Forget lets a model that was found slow, and is not tried, come closer to what was
// assumed of it at first, so that it is tried again.
func (d *Depth) Forget() {
	if first := firstRatio * d.step.one; d.model.one > first {
		d.model.one += forgetting * (first - d.model.one)
	}
	d.model.forget()
}

// leastExpected is how many tokens a text is taken to go on at least.
const leastExpected = 128

// Repays reports whether it pays to let the model read the tokens that it is behind of a
// text, one of as many as sequences. chance is that of each guess to be right. A text is
// taken to go on for as long as it has gone on already, if as many tokens are left: so
// what is read in vain takes no longer than what could have been saved.
func (d *Depth) Repays(chance float64, behind, generated, left, sequences int) bool {
	each := d.of(sequences)/float64(sequences) + d.step.share
	all, gain, took := *d, 0.0, 0.0
	for c, n := chance, 0; n < MaxTokens && all.better(c, each); c, n = c*chance, n+1 {
		all.tokens += c
		all.time += each
		gain += c
		took += each
	}
	saved := gain*d.time/d.tokens - took
	steps := float64(min(max(generated, leastExpected), left)) / (1 + gain)
	return saved*steps > d.of(behind)
}
