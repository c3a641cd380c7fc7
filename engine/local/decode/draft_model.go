package decode

import (
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/diglot/diglot/engine/local/decode/draft"
)

// DraftBackend computes batches of a second model, which guesses. It is the part of a
// [Backend] that this takes.
type DraftBackend interface {
	Decode(batch []Entry, sharedPrefix bool) Outcome
	Logits(row int) []float32
	RemoveSequence(id int)
	Truncate(id, n int)
	Interrupt()
	Resume()
}

// DraftModel is a second model, smaller and with the same vocabulary, whose best tokens
// are guesses.
type DraftModel struct {
	Backend DraftBackend // with as many sequences as the text has in parallel
	Cells   int          // KV cells
	Context int          // longer texts get no guesses
	Tokens  int          // of its vocabulary, which may be longer or shorter than that of the text

	// Now is the clock that steps are measured with; nil: [time.Now].
	Now func() time.Time
}

// DraftRows are the most rows of a batch of the second model.
const DraftRows = PrefillChunk

// speculator asks the second model. Its batches have rows of several texts, as those of
// the first.
type speculator struct {
	DraftModel
	vocab *Vocabulary
	log   *slog.Logger
	pace  draft.Pace
	slots []*slot
	free  int // cells
	batch []Entry

	// In the current round.
	rows     int  // that the batch still has
	room     int  // rows that the first model still has for guesses
	reserved int  // of the free cells
	reads    bool // pieces of texts that are far behind
}

// slot is a sequence of the second model. It keeps its text after the request that it
// belonged to, for the next turn of a conversation.
type slot struct {
	id     int
	busy   bool
	tokens []int32 // decoded
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

func newSpeculator(m DraftModel, vocab *Vocabulary, parallel int, log *slog.Logger) *speculator {
	p := &speculator{DraftModel: m, vocab: vocab, log: log, pace: draft.NewModelPace(), free: m.Cells}
	for id := range parallel {
		p.slots = append(p.slots, &slot{id: id})
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	return p
}

// fewBehind is how many tokens a text may be behind, and be read along with the others.
const fewBehind = draft.MaxTokens

// speculate replaces the guesses of sequences by what the second model says, where that
// is worth its steps. It reports whether it replaced any.
func (l *loop) speculate(generating []*sequence, depth draft.Depth) bool {
	p := l.drafter.second
	for _, s := range generating {
		l.drafter.learnEnd(s)
	}
	asked := p.choose(generating, l.room(len(generating)), &depth)
	for len(asked) > 0 && slices.ContainsFunc(generating, func(s *sequence) bool { return !s.canceled() }) {
		batch := p.fill(asked)
		start := p.Now()
		outcome := l.interruptible(generating, func() Outcome { return p.Backend.Decode(batch, len(batch) >= 2*len(asked)) })
		if outcome != Computed {
			p.fail(outcome, asked)
			break
		}
		if !p.reads { // large pieces take other kernels
			p.pace.Add(len(batch), p.Now().Sub(start))
		}
		p.reads = false
		l.countDraftStep(p.Now().Sub(start))
		for _, s := range asked {
			p.advance(s)
		}
		asked = p.further(asked, &depth)
	}
	replaced := false
	for _, s := range generating {
		if l.drafter.replace(s) {
			replaced = true
		}
	}
	return replaced
}

// replace replaces the guess of s by that of the second model, if that has one.
func (d *drafter) replace(s *sequence) bool {
	if s.slot == nil || len(s.slot.guess.Tokens) == 0 {
		return false
	}
	g := s.slot.guess
	s.slot.guess = draft.Guess{}
	n := len(d.possible(s, g.Tokens))
	if n < len(g.Tokens) {
		d.countWrong(s, g.Kinds[n])
	}
	if n == 0 {
		return false
	}
	s.guesser.Guess = draft.Guess{Tokens: g.Tokens[:n], Kinds: g.Kinds[:n]}
	return true
}

// learnEnd counts as wrong that the second model took the turn for ended, if the text
// went on there.
func (d *drafter) learnEnd(s *sequence) {
	t := s.slot
	if t == nil || t.endAt == 0 {
		return
	}
	at := t.endAt
	t.endAt = 0
	if at < len(s.tokens) && at <= len(t.tokens) && slices.Equal(t.tokens[:at], s.tokens[:at]) {
		d.countWrong(s, t.endKind)
	}
}

// countWrong counts a wrong guess of the second model that no row checked.
func (d *drafter) countWrong(s *sequence, k draft.Kind) {
	s.guesser.record.Add(k, 0, 1)
	d.record.Add(k, 0, 1)
}

// choose lists the sequences to ask, with the rows that they need first. Of texts that
// are far behind it lets the model read a piece, if that will pay.
func (p *speculator) choose(generating []*sequence, room int, depth *draft.Depth) (asked []*sequence) {
	p.rows, p.room, p.reserved = DraftRows, room, 0
	gain, rows := 0.0, 0
	var reading []*sequence
	for _, s := range generating {
		chance := s.guesser.record.Chance(draft.Modelled)
		switch behind := p.take(s, chance); {
		case behind == 0:
		case behind > fewBehind:
			if depth.Repays(chance, behind, s.generated, s.most(p.Context)+1, len(generating)) {
				reading = append(reading, s)
			}
		case rows+behind <= p.rows && len(asked) < p.room && depth.Row(chance) && p.reserve(s.slot, behind):
			s.slot.rows = behind
			gain += chance
			rows += behind
			asked = append(asked, s)
		}
	}
	if len(asked) > 0 && !depth.Further(gain, len(asked), rows) {
		asked, rows, p.reserved = nil, 0, 0
	}
	p.rows -= rows
	for _, s := range generating {
		if !slices.Contains(asked, s) && !slices.Contains(reading, s) {
			s.guesser.record.Forget(draft.Modelled)
		}
	}
	if asked = append(asked, p.read(reading)...); len(asked) == 0 {
		depth.Forget()
	}
	return asked
}

// take gives s a slot, and returns how many of its tokens the model has not decoded; 0:
// it is not to be asked.
func (p *speculator) take(s *sequence, chance float64) (behind int) {
	most := min(s.most(p.Context), draft.MaxTokens, p.room)
	if most < 1 || len(s.images) > 0 || len(s.guesser.Kinds) > 0 && s.guesser.record.Chance(s.guesser.Kinds[0]) >= chance {
		return 0
	}
	if s.slot == nil {
		s.slot = p.slotFor(s.tokens)
		s.slot.busy, s.slot.sure, s.slot.endAt = true, 0, 0
	}
	t := s.slot
	t.rows, t.most, t.chance, t.ended, t.guess = 0, most, 1, false, draft.Guess{}
	// At least one token is decoded, for its logits.
	t.sure += commonPrefix(t.tokens[t.sure:], s.tokens[t.sure:len(s.tokens)-1])
	if slices.ContainsFunc(s.tokens[t.sure:], func(token int32) bool { return int(token) >= p.Tokens }) {
		return 0
	}
	return len(s.tokens) - t.sure
}

// slotFor returns the idle slot whose text begins like tokens for longest, and of those
// the one with the shortest text. There is always one: slots are as many as running
// sequences.
func (p *speculator) slotFor(tokens []int32) *slot {
	var best *slot
	longest := -1
	for _, t := range p.slots {
		if t.busy {
			continue
		}
		if n := commonPrefix(t.tokens, tokens); n > longest || n == longest && len(t.tokens) < len(best.tokens) {
			best, longest = t, n
		}
	}
	return best
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
	if p.free+p.idle() < need {
		return false
	}
	for _, idle := range p.slots {
		if p.free < need && !idle.busy {
			p.truncate(idle, 0)
		}
	}
	p.reserved = need
	return true
}

// idle is how many cells the idle slots hold.
func (p *speculator) idle() (cells int) {
	for _, t := range p.slots {
		if !t.busy {
			cells += len(t.tokens)
		}
	}
	return cells
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
	p.free += len(t.tokens) - n
	t.tokens, t.sure = t.tokens[:n], min(t.sure, n)
}

// read gives a piece of the batch to texts that are far behind, in fair shares. They are
// those, the oldest first, for all of which there are cells: a text that is read in part
// has no guesses. The others give up their cells.
func (p *speculator) read(reading []*sequence) (asked []*sequence) {
	reading = slices.DeleteFunc(reading, func(s *sequence) bool {
		fits := p.reserve(s.slot, len(s.tokens)-s.slot.sure)
		if !fits {
			p.truncate(s.slot, 0)
		}
		return !fits
	})
	for i, s := range reading {
		rows := min(len(s.tokens)-s.slot.sure, p.rows/(len(reading)-i))
		if rows > 0 {
			s.slot.rows = rows
			p.rows -= rows
			asked = append(asked, s)
		}
	}
	p.reads = len(asked) > 0
	return asked
}

// fill writes the rows of the sequences to the batch. The cells are reserved.
func (p *speculator) fill(asked []*sequence) []Entry {
	p.batch = p.batch[:0]
	for _, s := range asked {
		t := s.slot
		for i := len(t.tokens); i < len(t.tokens)+t.rows; i++ {
			token, last := int32(0), len(s.tokens)+len(t.guess.Tokens)-1
			if i < len(s.tokens) {
				token = s.tokens[i]
			} else {
				token = t.guess.Tokens[i-len(s.tokens)]
			}
			p.batch = append(p.batch, Entry{Token: token, Position: int32(i), Sequence: int32(t.id), Logits: i == last})
		}
		t.row = len(p.batch) - 1
	}
	return p.batch
}

// advance counts what was decoded of a text, and adds the best token to its guess.
func (p *speculator) advance(s *sequence) {
	t := s.slot
	for _, e := range p.batch[t.row-t.rows+1 : t.row+1] {
		t.tokens = append(t.tokens, e.Token)
	}
	p.free -= t.rows
	t.sure = min(len(t.tokens), len(s.tokens)-1)
	if !p.batch[t.row].Logits {
		t.ended = true // it reads on in the next round
		return
	}
	// A vocabulary may be padded.
	logits := p.Backend.Logits(t.row)
	token, margin := best(logits[:min(len(logits), p.vocab.Size())])
	kind := draft.KindOfMargin(margin)
	if token < 0 || p.vocab.Is(token, KindEndOfTurn) {
		t.ended, t.endAt, t.endKind = true, len(t.tokens), kind
		return
	}
	p.room--
	t.guess.Tokens, t.guess.Kinds = append(t.guess.Tokens, token), append(t.guess.Kinds, kind)
	t.chance *= s.guesser.record.Chance(kind)
	t.ended = len(t.guess.Tokens) == t.most
}

// further lists the sequences for which one token more is worth a step.
func (p *speculator) further(asked []*sequence, depth *draft.Depth) []*sequence {
	gain, room := 0.0, p.room
	asked = slices.DeleteFunc(asked, func(s *sequence) bool {
		chance := s.slot.chance * s.guesser.record.Chance(draft.Modelled)
		if s.slot.ended || room <= 0 || !depth.Row(chance) {
			return true
		}
		room--
		gain += chance
		s.slot.rows = 1
		return false
	})
	if len(asked) == 0 || !depth.Further(gain, len(asked), len(asked)) {
		return nil
	}
	return asked
}

// fail gives up after a step that was not computed. The model is asked no more if it
// failed: its answers are not needed.
func (p *speculator) fail(outcome Outcome, asked []*sequence) {
	if outcome == Interrupted {
		return
	}
	p.log.Warn("the draft model could not compute a step", "outcome", outcome)
	for _, s := range asked {
		p.truncate(s.slot, 0)
	}
	if outcome == Failed {
		p.Context = 0
	}
}

// best returns the token with the largest logit, and how far that is above all others;
// -1 if there is none.
func best(logits []float32) (token int32, margin float32) {
	first, second := float32(math.Inf(-1)), float32(math.Inf(-1))
	token = -1
	for i, l := range logits {
		switch {
		case l > first:
			first, second, token = l, first, int32(i)
		case l > second:
			second = l
		}
	}
	return token, first - second
}
