package decode

import "github.com/diglot/diglot/engine"

// glance is cells of one image, as a batch: they cannot be in one batch with
// tokens.
type ImageBatch struct {
	Sequence  int
	Position  int // of the image's first cell
	First     int // of the cells to read, counted from the image's first
	Cells     int
	Embedding []float32 // of these cells
	Columns   int       // as in section
	Whole     bool      // as in section
	Logits    bool      // of the last cell are wanted
}

// look does one piece of work for the oldest sequence that has come to an
// image that is unpacked: it computes the image's embedding, or reads cells of
// it. Tokens of the others come between two pieces. waits says that there are
// images that are not unpacked yet.
func (l *loop) look() (worked, waits bool) {
	for _, s := range l.live {
		v := s.looking()
		switch {
		case v == nil || s.id < 0 || s.canceled():
		case v.embedding != nil:
			l.readImage(s, v)
			return true, waits
		case l.unpacked(s, v.pixels):
			l.encode(s, v)
			return true, waits
		default:
			waits = true
		}
	}
	return false, waits
}

// unpacked reports whether the pixels of an image are there, and has them made
// where nobody does so. It takes seconds where a picture is large.
func (l *loop) unpacked(s *sequence, p *pixels) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !p.begun {
		p.begun = true
		go func() {
			data, err := p.unpack(s.ctx)
			l.mu.Lock()
			defer l.mu.Unlock()
			p.data, p.err, p.ready = data, err, true
			l.news = true
			l.wake.Signal()
		}()
	}
	return p.ready
}

// encode computes the embedding of an image.
func (l *loop) encode(s *sequence, v *view) {
	var embedding []float32
	var err error
	result := l.compute([]*sequence{s}, func() (end Outcome) {
		embedding, end, err = l.backend.Encode(v.image())
		return end
	})
	switch result {
	case Computed:
		v.embedding = embedding
		l.mu.Lock()
		l.stats.Encoded++
		l.mu.Unlock()
	case Interrupted:
	default:
		l.vacate(s)
		s.fail(engine.Errorf(engine.CodeInternal, "The model could not read the image.").Because(err))
		l.retire()
	}
}

// readImage reads as much of an image as fits into a batch and the cache.
func (l *loop) readImage(s *sequence, v *view) {
	left := v.end() - len(s.cells)
	want := min(left, PrefillChunk)
	if v.Whole {
		want = left
	}
	for l.cells.available() < want && l.evict() {
	}
	need := 1
	if v.Whole {
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
	width := len(v.embedding) / v.Cells
	g := ImageBatch{
		Sequence:  s.id,
		Position:  s.position(v.start),
		First:     first,
		Cells:     rows,
		Embedding: v.embedding[first*width : (first+rows)*width],
		Columns:   v.Columns,
		Whole:     v.Whole,
		Logits:    v.start+first+rows == len(s.tokens),
	}
	active := []*sequence{s}
	l.settle(active, l.compute(active, func() Outcome { return l.backend.DecodeImage(g) }))
	if len(s.cells) >= v.end() {
		v.embedding = nil
	}
}
