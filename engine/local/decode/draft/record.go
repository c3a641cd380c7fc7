package draft

// Kind is a kind of guess, by what is known of it.
type Kind int

const (
	Forced Kind = iota // by a grammar
	Styled             // by a grammar, but for white space
	Brief              // found by two or three tokens
	Short              // by four to seven
	Medium             // by eight to fifteen
	Long               // by more
	kinds
)

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
	return Record{Forced: {19, 20}, Styled: {3, 4}, Brief: {1, 4}, Short: {2, 4}, Medium: {3, 4}, Long: {7, 8}}
}

// Add counts checked tokens of a guess, of which held were right.
func (r *Record) Add(k Kind, held, checked int) {
	t := &r[k]
	t.held += float64(held)
	t.checked += float64(checked)
	if t.checked > memory {
		t.held *= memory / t.checked
		t.checked = memory
	}
}

// Chance is how likely the next token of a guess is right.
func (r *Record) Chance(k Kind) float64 { return r[k].held / r[k].checked }

// Begin returns the record of a new text, which soon outweighs what others had.
func (r *Record) Begin() Record {
	b := *r
	for k := range b {
		const weight = 4
		b[k] = tally{weight * r.Chance(Kind(k)), weight}
	}
	return b
}
