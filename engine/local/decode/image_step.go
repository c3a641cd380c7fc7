package decode

import "github.com/diglot/diglot/engine"

// ImageBatch is a batch of image embeddings, which cannot be mixed with tokens.
type ImageBatch struct {
	Sequence   int
	Position   int // of the chunk's first cell
	First      int // index of the batch's first cell in the chunk
	Cells      int
	Embeddings []float32
	Columns    int  // see [Chunk]
	NonCausal  bool // see [Chunk]
	Logits     bool // whether to compute logits for the last cell
}

// imageStep encodes an image chunk or decodes its embeddings, for the oldest
// sequence whose next chunk is an image with decoded pixels. Other sequences
// have their turn between two such steps. waits reports whether pixels of some
// image are still being decoded.
func (l *loop) imageStep() (worked, waits bool) {
	for _, s := range l.running {
		v := s.nextImage()
		switch {
		case v == nil || s.id < 0 || s.canceled():
		case v.embeddings != nil:
			l.decodeImage(s, v)
			return true, waits
		case l.pixelsReady(s, v.pixels):
			l.encode(s, v)
			return true, waits
		default:
			waits = true
		}
	}
	return false, waits
}

// pixelsReady reports whether the pixels are decoded. It starts decoding them,
// which takes seconds for a large picture.
func (l *loop) pixelsReady(s *sequence, p *pixels) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !p.started {
		p.started = true
		go func() {
			data, err := p.decode(s.ctx)
			l.mu.Lock()
			defer l.mu.Unlock()
			p.data, p.err, p.ready = data, err, true
			l.signaled = true
			l.wake.Signal()
		}()
	}
	return p.ready
}

// encode computes the embeddings of an image chunk.
func (l *loop) encode(s *sequence, v *imageChunk) {
	var embedding []float32
	var err error
	result := l.compute([]*sequence{s}, func() (end Outcome) {
		embedding, end, err = l.backend.Encode(v.input())
		return end
	})
	switch result {
	case Computed:
		v.embeddings = embedding
		l.mu.Lock()
		l.stats.ImagesEncoded++
		l.mu.Unlock()
	case Interrupted:
	default:
		l.freeSlot(s)
		s.fail(engine.Errorf(engine.CodeInternal, "The model could not read the image.").Because(err))
		l.retire()
	}
}

// decodeImage decodes as many embeddings as fit into a batch and the cache.
func (l *loop) decodeImage(s *sequence, v *imageChunk) {
	rest := v.end() - len(s.cells)
	want := min(rest, PrefillChunk)
	if v.NonCausal {
		want = rest
	}
	for l.cells.available() < want && l.evict() {
	}
	need := 1
	if v.NonCausal {
		need = want
	}
	for l.freeCells(need) {
		if s.id < 0 {
			return // s itself was preempted
		}
	}
	rows := min(want, l.cells.available())
	for _, other := range l.running {
		other.rows = 0
	}
	s.rows, s.lastRow = rows, rows-1
	first := len(s.cells) - v.start
	width := len(v.embeddings) / v.Cells
	g := ImageBatch{
		Sequence:   s.id,
		Position:   s.position(v.start),
		First:      first,
		Cells:      rows,
		Embeddings: v.embeddings[first*width : (first+rows)*width],
		Columns:    v.Columns,
		NonCausal:  v.NonCausal,
		Logits:     v.start+first+rows == len(s.tokens),
	}
	active := []*sequence{s}
	l.settle(active, l.compute(active, func() Outcome { return l.backend.DecodeImage(g) }))
	if len(s.cells) >= v.end() {
		v.embeddings = nil
	}
}
