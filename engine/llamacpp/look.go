package llamacpp

import (
	"slices"

	"github.com/diglot/diglot/engine"
)

// glance is cells of one image, as a batch: they cannot be in one batch with
// tokens.
type glance struct {
	sequence  int
	position  int // of the image's first cell
	first     int // of the cells to read, counted from the image's first
	cells     int
	embedding []float32 // of these cells
	columns   int       // as in section
	whole     bool      // as in section
	logits    bool      // of the last cell are wanted
}

// look does one piece of work for the oldest sequence that has come to an
// image: it computes the image's embedding, or reads cells of it. Tokens of
// the others come between two pieces.
func (l *loop) look() {
	i := slices.IndexFunc(l.live, func(s *sequence) bool { return s.id >= 0 && !s.canceled() && s.looking() != nil })
	if i < 0 {
		return
	}
	s := l.live[i]
	if v := s.looking(); v.embedding == nil {
		l.encode(s, v)
	} else {
		l.readImage(s, v)
	}
}

// encode computes the embedding of an image.
func (l *loop) encode(s *sequence, v *view) {
	var embedding []float32
	var err error
	result := l.compute([]*sequence{s}, func() (end decoded) {
		embedding, end, err = l.backend.encode(v)
		return end
	})
	switch result {
	case decodedAll:
		v.embedding = embedding
		l.mu.Lock()
		l.stats.Encoded++
		l.mu.Unlock()
	case decodedInterrupted:
	default:
		l.vacate(s)
		s.fail(engine.Errorf(engine.CodeInternal, "The model could not read the image.").Because(err))
		l.retire()
	}
}

// readImage reads as much of an image as fits into a batch and the cache.
func (l *loop) readImage(s *sequence, v *view) {
	left := v.end() - len(s.cells)
	want := min(left, readPiece)
	if v.whole {
		want = left
	}
	for l.cells.available() < want && l.evict() {
	}
	need := 1
	if v.whole {
		need = want
	}
	for l.makeRoom(need) {
		if s.id < 0 {
			return // it was the youngest
		}
	}
	rows := min(want, l.cells.available())
	for _, other := range l.live {
		other.rows = 0
	}
	s.rows, s.row = rows, rows-1
	first := len(s.cells) - v.start
	width := len(v.embedding) / v.cells
	g := glance{
		sequence:  s.id,
		position:  s.position(v.start),
		first:     first,
		cells:     rows,
		embedding: v.embedding[first*width : (first+rows)*width],
		columns:   v.columns,
		whole:     v.whole,
		logits:    v.start+first+rows == len(s.tokens),
	}
	active := []*sequence{s}
	l.settle(active, l.compute(active, func() decoded { return l.backend.decodeImage(g) }))
	if len(s.cells) >= v.end() {
		v.embedding = nil
	}
}
