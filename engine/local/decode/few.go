package decode

import (
	"slices"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// Where a grammar or logit_bias leaves few tokens, they are listed before the model
// computes: then it need not compute the logits of the others, and the sampler need not
// look at them.

// mostFew is how many tokens are few. The kernels compute 32 rows of the output layer
// for each.
const mostFew = 512

// starts finds tokens by the first two bytes of their text.
type starts struct {
	vocab  *Vocabulary
	short  []int32 // tokens of one byte
	tokens []int32 // others, by their first two bytes
	behind []int32 // those bytes as a number: the end of their tokens; nil: not indexed yet
	ends   []int32 // tokens that end the turn
}

// index indexes the vocabulary, for its first constrained text.
func (x *starts) index() {
	x.behind = make([]int32, 1<<16)
	for token := range int32(x.vocab.Size()) {
		if x.vocab.Is(token, KindEndOfTurn) {
			x.ends = append(x.ends, token)
		}
		switch text := x.vocab.output(token, nil); len(text) {
		case 0:
		case 1:
			x.short = append(x.short, token)
		default:
			x.behind[start(text)]++
		}
	}
	sum := int32(0)
	for i, n := range x.behind {
		x.behind[i] = sum
		sum += n
	}
	x.tokens = make([]int32, sum)
	for token := range int32(x.vocab.Size()) {
		if text := x.vocab.output(token, nil); len(text) > 1 {
			at := &x.behind[start(text)]
			x.tokens[*at] = token
			*at++
		}
	}
}

func start(text []byte) int { return int(text[0])<<8 | int(text[1]) }

// allowed lists the tokens that may come next, in order; nil: they are many.
func (x *starts) allowed(w *grammar.Walk, markers map[int32]bool) []int32 {
	few := make([]int32, 0, 16)
	add := func(tokens []int32) {
		for _, token := range tokens {
			if len(few) > mostFew || w.Spent() {
				return
			}
			if w.Allows(x.vocab.Bytes(token)) {
				few = append(few, token)
			}
		}
	}
	add(x.short)
	for first := range 256 {
		if !w.Allows([]byte{byte(first)}) {
			continue
		}
		if len(few) > mostFew || w.Spent() {
			return nil
		}
		for second := range 256 {
			at := first<<8 | second
			if tokens := x.of(at); len(tokens) > 0 && w.Allows([]byte{byte(first), byte(second)}) {
				add(tokens)
			}
		}
	}
	for token := range markers {
		add([]int32{token})
	}
	if w.Complete() {
		few = append(few, x.ends...)
	}
	if len(few) > mostFew || w.Spent() {
		return nil
	}
	slices.Sort(few)
	return slices.Compact(few)
}

// of returns the tokens that begin with two bytes.
func (x *starts) of(at int) []int32 {
	first := int32(0)
	if at > 0 {
		first = x.behind[at-1]
	}
	return x.tokens[first:x.behind[at]]
}

// allow lists what each row of a sequence may be followed by, from the first row on that
// has logits.
func (l *loop) allow(s *sequence) {
	s.few = s.few[:0]
	if s.scores != nil || s.pending() > s.rows {
		return
	}
	if s.sampler.constraint == nil {
		if s.sampler.exclusive != nil {
			s.few = append(s.few, slices.Repeat([][]int32{s.sampler.exclusive}, s.drafted+1)...)
		}
		return
	}
	if l.starts.behind == nil {
		l.starts.index()
	}
	w := s.sampler.constraint.Walk()
	for i := 0; ; i++ {
		s.few = append(s.few, l.starts.allowed(w, s.sampler.markers))
		if i == s.drafted || !w.Follow(l.vocab.output(s.guesser.Tokens[i], s.sampler.markers)) {
			return
		}
	}
}

// exclusiveBias, the largest that the document allows, outweighs all differences between
// the logits of a model.
const exclusiveBias = 100

// exclusive lists the tokens that a bias leaves, in order; nil: it leaves many.
func exclusive(bias map[int]float64) []int32 {
	var few []int32
	for token, b := range bias {
		if b >= exclusiveBias {
			few = append(few, int32(token))
		}
	}
	if len(few) > mostFew {
		return nil
	}
	slices.Sort(few)
	return few
}

// fewAt returns the tokens that may follow a row, counted like those of allow; nil: they
// are many.
func (s *sequence) fewAt(i int) []int32 {
	if i < 0 || i >= len(s.few) {
		return nil
	}
	return s.few[i]
}
