package value

import (
	"context"
	"math/rand/v2"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// attempts is how often a value is written that the validator rejects.
const attempts = 40

// Write continues the text of m with one value of a schema, which the grammar of m must
// enforce, and returns it. It does not change m. schema may be nil: the grammar leads
// alone. ok is false if nothing was found that the grammar allows; a value that breaks what
// no grammar enforces is better than none.
func Write(ctx context.Context, m *grammar.Matcher, schema []byte, seed uint64) (value []byte, ok bool) {
	root := parse(schema)
	valid := newJudge(schema, root)
	left := maxSteps
	for i := uint64(0); i < attempts && left > 0 && ctx.Err() == nil; i++ {
		w := &writer{random: rand.New(rand.NewPCG(seed, i)), vary: i > 0, most: min(left, maxTry)}
		at, fits := w.value(place{matcher: m.Clone()}, hintsOf(root, root), field{})
		left -= w.steps
		if !fits {
			continue
		}
		if value == nil {
			value = at.text
		}
		if valid.accepts(at.text) {
			return at.text, true
		}
	}
	return value, value != nil
}
