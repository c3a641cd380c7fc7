package decode

import "github.com/diglot/diglot/engine/local/decode/draft"

// Slots of the second model, and the cells that they hold. What texts begin with is
// decoded for one of them.

// slot is a sequence of the second model. It keeps its text after the request that it
// belonged to, for the next turn of a conversation.
type slot struct {
	id     int
	busy   bool
	tokens []int32 // decoded
	cells  []int32 // of them; the same as those of another slot where both begin alike
	sure   int     // of these, those that are known to be of the text

	// Its guess that the turn ends, which is no token of a guess.
	endAt   int // after as many tokens; 0: there is none
	endKind draft.Kind

	// In the current round.
	rows   int // in the batch
	row    int // of the batch: the last of them
	guess  draft.Guess
	most   int     // tokens of the guess
	chance float64 // that all of it is right
	ended  bool    // nothing follows the guess
}

// slotFor returns the idle slot of whose text the least is lost, when tokens take its
// place: neither what both begin with nor what another slot has, too. There is always
// one: slots are as many as running sequences.
func (p *speculator) slotFor(tokens []int32) *slot {
	var best *slot
	least, longest := 0, 0
	for _, t := range p.slots {
		if t.busy {
			continue
		}
		n := commonPrefix(t.tokens, tokens)
		lost := p.cells.unshared(t.cells[n:])
		if best == nil || lost < least || lost == least && n > longest {
			best, least, longest = t, lost, n
		}
	}
	return best
}

// share lets t have the cells of another slot whose text begins like tokens for longer, if
// it would have to read many tokens else.
func (p *speculator) share(t *slot, tokens []int32) {
	var from *slot
	length := t.sure + fewBehind
	for _, other := range p.slots {
		if n := alike(other.tokens, tokens, length); n > 0 {
			from, length = other, n
		}
	}
	if from == nil {
		return
	}
	p.truncate(t, 0)
	p.Backend.CopySequence(from.id, t.id, length)
	t.tokens = append(t.tokens, from.tokens[:length]...)
	t.cells, t.sure = p.cells.share(from.cells[:length]), length
}

// alike is for how many tokens both begin alike, if these are more than least, else 0.
func alike(a, b []int32, least int) int {
	if min(len(a), len(b)) <= least || a[least] != b[least] {
		return 0
	}
	if n := commonPrefix(a, b); n > least {
		return n
	}
	return 0
}

// leaveSlot lets other sequences have the slot.
func (s *sequence) leaveSlot() {
	if s.slot != nil {
		s.slot.busy = false
		s.slot = nil
	}
}

// reserve makes the text of t end where it is no longer that of its sequence, and
// reserves cells for rows more and a guess. Idle slots make room, if that is enough. It
// returns false if there is none.
func (p *speculator) reserve(t *slot, rows int) bool {
	p.truncate(t, t.sure)
	need := p.reserved + rows + t.most
	if p.cells.available() < need && p.cells.total()-p.inUse() < need {
		return false
	}
	for _, idle := range p.slots {
		if p.cells.available() < need && !idle.busy {
			p.truncate(idle, 0)
		}
	}
	p.reserved = need
	return true
}

// inUse is how many cells the busy slots hold.
func (p *speculator) inUse() int {
	return distinct(p.cells, p.slots, func(t *slot) []int32 {
		if !t.busy {
			return nil
		}
		return t.cells
	})
}

func (p *speculator) truncate(t *slot, n int) {
	switch {
	case n == len(t.tokens):
		return
	case n == 0:
		p.Backend.RemoveSequence(t.id)
	default:
		p.Backend.Truncate(t.id, n)
	}
	t.cells = p.cells.release(t.cells, n)
	t.tokens, t.sure = t.tokens[:n], min(t.sure, n)
}
