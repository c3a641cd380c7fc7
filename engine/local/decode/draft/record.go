package draft

// Kind is a kind of guess, by what is known of it.
type Kind int

const (
	Forced   Kind = iota // by a grammar
	Styled               // by a grammar, but for white space
	Brief                // found by two or three tokens
	Short                // by four to seven
	Medium               // by eight to fifteen
	Long                 // by more
	Modelled             // by a model, any of the following
	Doubtful             // which holds another token for nearly as likely
	Probable
	Certain // which holds no other token for likely
	kinds
)

// OfModel reports whether a model guesses tokens of the kind.
func (k Kind) OfModel() bool { return k >= Modelled }

// KindOfMargin is the kind of a token that a model guesses, by how far its logit is
// above all others.
func KindOfMargin(margin float32) Kind {
	switch {
	case margin < 1:
		return Doubtful
	case margin < 3:
		return Probable
	}
	return Certain
}

// KindOf is the kind of a guess that [Index.Guess] found.
func KindOf(matched int) Kind {
	switch {
	case matched < longRun:
		return Brief
	case matched < 8:
		return Short
	case matched < 16:
		return Medium
	}
	return Long
}

// Record is how many tokens of guesses held, by kind. Old ones count less and less.
type Record [kinds]tally

type tally struct{ held, checked float64 }

// memory is how many tokens of a kind a record remembers.
const memory = 40

// NewRecord returns what is assumed before anything is measured.
func NewRecord() Record {
	return Record{Forced: {19, 20}, Styled: {3, 4}, Brief: {1, 4}, Short: {2, 4}, Medium: {3, 4}, Long: {7, 8},
		Modelled: {7, 10}, Doubtful: {4, 10}, Probable: {7, 10}, Certain: {9, 10}}
}

// Add counts checked tokens of a guess, of which held were right.
func (r *Record) Add(k Kind, held, checked int) {
	r[k].add(held, checked)
	if k > Modelled {
		r[Modelled].add(held, checked)
	}
}

func (t *tally) add(held, checked int) {
	t.held += float64(held)
	t.checked += float64(checked)
	if t.checked > memory {
		t.held *= memory / t.checked
		t.checked = memory
	}
}

// Chance is how likely the next token of a guess is right.
func (r *Record) Chance(k Kind) float64 { return r[k].held / r[k].checked }

// forgetting is how much of what a kind had is forgotten where it is not tried.
const forgetting = 1.0 / 200

// Forget lets a kind that is not tried come closer to what was assumed of it at first,
// so that it is tried again.
func (r *Record) Forget(k Kind) {
	t, first := &r[k], NewRecord()[k]
	t.held += forgetting * t.checked * (first.held/first.checked - r.Chance(k))
}

// Begin returns the record of a new text, which soon outweighs what others had.
func (r *Record) Begin() Record {
	b := *r
	for k := range b {
		const weight = 4
		b[k] = tally{weight * r.Chance(Kind(k)), weight}
	}
	return b
}
