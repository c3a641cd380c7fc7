package draft

// Guess is how a sequence may go on.
type Guess struct {
	Tokens []int32
	Kinds  []Kind // of each token
	Rows   int    // how many tokens are worth checking, as [Plan] decided
}

// Limits of guesses: for one sequence, and for all sequences of a batch.
const (
	MaxTokens = 24
	MaxRows   = 48
)

// Plan decides how many tokens of each guess are checked in a step that makes a token
// for each guess, with room for as many rows more. It returns how many tokens the step
// can be expected to make, and its rows.
func Plan(guesses []Guess, records []*Record, pace *Pace, room int) (tokens float64, rows int) {
	tokens, rows = float64(len(guesses)), len(guesses)
	chances := make([]float64, len(guesses)) // that all of a guess up to here is right
	for i := range guesses {
		guesses[i].Rows = 0
		chances[i] = 1
	}
	for range min(room, MaxRows) {
		best, chance := -1, 0.0
		for i, g := range guesses {
			if g.Rows == len(g.Tokens) {
				continue
			}
			if c := chances[i] * records[i].Chance(g.Kinds[g.Rows]); c > chance {
				best, chance = i, c
			}
		}
		if best < 0 || (tokens+chance)*pace.of(rows) <= tokens*pace.of(rows+1) {
			break
		}
		guesses[best].Rows++
		chances[best] = chance
		tokens += chance
		rows++
	}
	return tokens, rows
}

// Learn counts how the guess held against the tokens that were sampled.
func (g *Guess) Learn(sampled []int32, records ...*Record) {
	for i, token := range sampled {
		if i == len(g.Tokens) {
			return
		}
		held := 0
		if g.Tokens[i] == token {
			held = 1
		}
		for _, r := range records {
			r.Add(g.Kinds[i], held, 1)
		}
		if held == 0 {
			return
		}
	}
}
