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
	CopySequence(src, dst, n int)
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
	cells *cells
	batch []Entry
	told  time.Time // when the log last said how good its guesses are

	// In the current round.
	rows     int  // that the batch still has
	room     int  // rows that the first model still has for guesses
	reserved int  // of the free cells
	reads    bool // pieces of texts that are far behind
}

func newSpeculator(m DraftModel, vocab *Vocabulary, parallel int, log *slog.Logger) *speculator {
	p := &speculator{DraftModel: m, vocab: vocab, log: log, pace: draft.NewModelPace(), cells: newCells(m.Cells)}
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

// caughtUp is how many tokens a text is behind whose last guess held.
const caughtUp = 2

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
		outcome := l.interruptible(generating, func() Outcome { return p.Backend.Decode(batch, p.sharesPrefix(asked)) })
		if outcome != Computed {
			p.fail(outcome, asked)
			break
		}
		if !p.reads { // large pieces take other kernels
			p.pace.Add(len(batch), p.Now().Sub(start))
		}
		p.reads = false
		l.count(Stats{DraftSteps: 1, Decoding: p.Now().Sub(start)})
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
// are far behind it lets the model read a piece, if that will pay; also of those that are
// a little behind, if a guess for each is not worth all their rows now.
func (p *speculator) choose(generating []*sequence, room int, depth *draft.Depth) []*sequence {
	p.rows, p.room, p.reserved = DraftRows, room, 0
	near, far, gain := p.divide(generating, depth)
	alone := *depth
	if len(near) > 0 && !depth.Further(gain, len(near), DraftRows-p.rows) {
		far = append(far, slices.DeleteFunc(near, func(s *sequence) bool { return s.slot.rows <= caughtUp })...)
		near, p.rows, p.reserved = nil, DraftRows, 0
	}
	reading := p.repaying(far, &alone, len(generating))
	for _, s := range generating {
		if !slices.Contains(near, s) && !slices.Contains(reading, s) {
			s.guesser.record.Forget(draft.Modelled)
		}
	}
	asked := append(near, p.read(reading)...)
	if len(asked) == 0 {
		depth.Forget()
	}
	return asked
}

// divide divides the sequences into those for which a guess may be worth the rows that the
// model has not decoded, and those that are far behind. gain is the sum of the chances of
// those guesses. The others are not to be asked.
func (p *speculator) divide(generating []*sequence, depth *draft.Depth) (near, far []*sequence, gain float64) {
	for _, s := range generating {
		chance := s.guesser.record.Chance(draft.Modelled)
		switch behind := p.take(s, chance); {
		case behind == 0:
		case behind > fewBehind:
			far = append(far, s)
		case behind <= p.rows && len(near) < p.room && depth.Row(chance) && p.reserve(s.slot, behind):
			s.slot.rows = behind
			p.rows -= behind
			gain += chance
			near = append(near, s)
		}
	}
	return near, far, gain
}

// repaying lists those of the texts far behind that are worth reading.
func (p *speculator) repaying(far []*sequence, depth *draft.Depth, sequences int) (reading []*sequence) {
	for _, s := range far {
		chance := s.guesser.record.Chance(draft.Modelled)
		if depth.Repays(chance, toRead(s, far), s.generated, s.most(p.Context)+1, sequences) {
			reading = append(reading, s)
		}
	}
	return reading
}

// toRead is how many tokens are read for s. Those that other texts begin with, too, are
// read once for all, and are divided among them.
func toRead(s *sequence, far []*sequence) int {
	from, tokens := s.slot.sure, 0.0
	var shared []int // of each other text, up to where it is the same
	for _, other := range far {
		if n := alike(s.tokens, other.tokens, from+fewBehind); n > 0 && other != s {
			shared = append(shared, n)
		}
	}
	slices.Sort(shared)
	for i, n := range shared {
		tokens += float64(n-from) / float64(len(shared)-i+1)
		from = n
	}
	return int(tokens) + len(s.tokens) - from
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
	begins := s.tokens[:len(s.tokens)-1]
	t.sure += commonPrefix(t.tokens[t.sure:], begins[t.sure:])
	p.share(t, begins)
	if slices.ContainsFunc(s.tokens[t.sure:], func(token int32) bool { return int(token) >= p.Tokens }) {
		return 0
	}
	return len(s.tokens) - t.sure
}

// read gives a piece of the batch to texts that are far behind, in fair shares. They are
// those, the oldest first, for all of which there are cells: a text that is read in part
// has no guesses. The others give up their cells. Of texts that begin alike the oldest is
// read, and the others wait to share its cells.
func (p *speculator) read(behind []*sequence) (reading []*sequence) {
	for _, s := range behind {
		switch {
		case waits(s, reading):
		case p.reserve(s.slot, len(s.tokens)-s.slot.sure):
			reading = append(reading, s)
		default:
			p.truncate(s.slot, 0)
		}
	}
	for i, s := range reading {
		s.slot.rows = min(len(s.tokens)-s.slot.sure, p.rows/(len(reading)-i))
		p.rows -= s.slot.rows
	}
	reading = slices.DeleteFunc(reading, func(s *sequence) bool { return s.slot.rows == 0 })
	p.reads = len(reading) > 0
	return reading
}

// waits reports whether one of the texts that are being read will have much of s.
func waits(s *sequence, reading []*sequence) bool {
	begins := s.tokens[:len(s.tokens)-1]
	return slices.ContainsFunc(reading, func(older *sequence) bool {
		return alike(begins, older.tokens, s.slot.sure+fewBehind) > 0
	})
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
	t.cells = p.cells.allocate(t.cells, t.rows)
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

// sharesPrefix reports whether each cell is attended to by two rows or more on average.
func (p *speculator) sharesPrefix(asked []*sequence) bool {
	attended := 0
	for _, s := range asked {
		attended += s.slot.rows * len(s.slot.cells)
	}
	held := func(s *sequence) []int32 { return s.slot.cells }
	return len(p.batch) > 1 && attended >= 2*distinct(p.cells, asked, held)
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

// tellEvery is how often the log says how good the guesses of the second model are.
const tellEvery = time.Minute

// logGuesses logs what the second model has done since it was loaded, after a text has
// ended.
func (l *loop) logGuesses() {
	if l.drafter == nil || l.drafter.second == nil {
		return
	}
	p := l.drafter.second
	now := p.Now()
	if now.Sub(p.told) < tellEvery {
		return
	}
	p.told = now
	l.mu.Lock()
	s := l.stats
	l.mu.Unlock()
	l.log.Info("guesses of the draft model", "steps", s.DraftSteps, "checked", s.DraftChecked, "held", s.DraftHeld, "generated", s.Generated)
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
