package decode

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
)

// Backend computes. The loop alone calls it, save for interrupt, which may
// come from anywhere.
type Backend interface {
	// Decode reads the batch. Its tokens must continue their sequences. They
	// are alike where most of what they look at is the same for many of them.
	Decode(batch []Entry, alike bool) Outcome

	// Encode computes what an image is to the model. The error, for the log,
	// says why it failed.
	Encode(v ImagePart) ([]float32, Outcome, error)

	// DecodeImage reads cells of an image. They must continue their sequence.
	DecodeImage(g ImageBatch) Outcome

	// Logits are those of an entry of the last decode that wanted them. The
	// memory is llama.cpp's, valid until the next decode, and may be written.
	Logits(row int) []float32

	// CopySequence lets dst, which is empty, share the tokens of src at the
	// first n positions.
	CopySequence(src, dst, n int)
	RemoveSequence(id int)

	// Shares reports whether sequences can share a part of their tokens at
	// all: a recurrent model has one state for a whole text.
	Shares() bool

	// Whole reports whether the cache still has the sequence from its first
	// token on: models with a sliding window forget.
	Whole(id int) bool

	// Interrupt makes a running decode stop soon, without effect; resume
	// allows decoding again.
	Interrupt()
	Resume()
}

// Entry is one token of a batch.
type Entry struct {
	Token    int32
	Position int32
	Sequence int32
	Logits   bool // wanted
}

// decoded says how a decode ended.
type Outcome int

const (
	Computed    Outcome = iota
	CacheFull           // no room in the cache; nothing was read
	Interrupted         // nothing was read
	Failed              // what the batch's sequences hold is unknown
)

// Sizes of a batch. Prompts are read in pieces: what a larger one would need
// less of the weights, it would need more of the processor's caches, and
// whoever generates beside waits for it. (On two cores of x86-64, with models
// of 0.1 to 1.5 billion parameters, pieces of 128 tokens were read 1.0 to 1.4
// times as fast as ones of 512.)
const (
	PrefillChunk = memory.Piece

	// BatchRows is room for a piece and all that generate, and for a picture
	// whose tokens see each other: it must be read at once.
	BatchRows = memory.Whole
)

// maxQueue is how many requests may wait for admission, for each that can
// be computed at a time. As many choices more than one of each may wait with
// them: further requests for more than one choice are refused, others are not.
const maxQueue = 32

// loop computes all sequences of one model. Fields below mu are shared with
// requests; the others belong to run.
type loop struct {
	backend Backend
	vocab   *Vocabulary
	log     *slog.Logger
	context int // tokens that one sequence may have

	live  []*sequence // admitted, oldest first
	kept  []*sequence // ended; unused for longest first
	cells *cells
	ids   []int // free
	age   uint64
	batch []Entry
	stuck bool // until there is news: images are unpacked, and there is nothing else to do

	parallel int
	stopped  chan struct{} // run has returned

	mu        sync.Mutex
	wake      *sync.Cond
	waiting   []*sequence                     // not admitted, first come first
	gathering map[*engine.Request][]*sequence // the first choices of requests whose last have not come yet
	computing []*sequence                     // in the running decode
	closed    bool
	news      bool // something has come since the loop looked
	stats     Stats
}

// Stats counts what a model has done since it was opened.
type Stats struct {
	Steps       int // batches computed
	PromptRead  int // tokens of prompts that were computed, repeats after preemption included
	PromptTaken int // tokens of prompts that were taken over instead
	Generated   int
	Encoded     int // images computed, or the parts that a model sees of them
	Preempted   int // times that a sequence gave up its cells for an older one

	Computing time.Duration // spent in llama.cpp
	Choosing  time.Duration // spent on choosing tokens

	Running   int // sequences admitted now
	Waiting   int // requests waiting now
	Kept      int // texts kept in the cache now
	FreeCells int
}

func newLoop(b Backend, vocab *Vocabulary, parallel, context, pool int, log *slog.Logger) *loop {
	l := &loop{
		backend:  b,
		vocab:    vocab,
		log:      log,
		context:  context,
		cells:    newCells(pool),
		parallel: parallel,
		stopped:  make(chan struct{}),

		gathering: map[*engine.Request][]*sequence{},
	}
	for id := range SequenceIDs(parallel, b.Shares()) {
		l.ids = append(l.ids, id)
	}
	l.wake = sync.NewCond(&l.mu)
	l.stats.FreeCells = pool
	return l
}

// SequenceIDs is how many sequences llama.cpp must be able to tell apart.
// One text more than maxKept is kept for a moment.
func SequenceIDs(parallel int, shares bool) int {
	if !shares {
		return parallel
	}
	return parallel + maxKept + 1
}

// submit queues a sequence. Ending its context takes it out again.
func (l *loop) submit(seq *sequence) *engine.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrUnloaded()
	case l.crowded(seq):
		err := engine.Errorf(engine.CodeOverloaded, "Too many requests are waiting for this model; try again later.")
		err.RetryAfter = 5
		return err
	}
	l.waiting = append(l.waiting, l.gather(seq)...)
	context.AfterFunc(seq.ctx, l.left)
	l.news = true
	l.wake.Signal()
	return nil
}

// crowded reports whether the request that seq begins finds no place in the queue.
// Choices of a request that is there have theirs.
func (l *loop) crowded(seq *sequence) bool {
	if len(l.gathering[seq.job.Request]) > 0 {
		return false
	}
	seen := map[*engine.Request]bool{}
	requests, choices := len(l.gathering), 0
	for _, s := range l.waiting {
		if seen[s.job.Request] {
			choices++
			continue
		}
		requests++
		seen[s.job.Request] = s.job.Request != nil
	}
	for _, group := range l.gathering {
		choices += group[0].job.Choices - 1
	}
	most := maxQueue * l.parallel
	return requests >= most || seq.job.Choices > 1 && choices >= most
}

func ErrUnloaded() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The model is being unloaded; try again.")
	err.RetryAfter = 1
	return err
}

// gather returns the sequences that can begin now that seq has come: itself,
// or all choices of its request once they are there. Then they are always
// computed in the same batches, and the same request gives the same texts:
// the last digits of llama.cpp's numbers depend on the size of a batch. The
// request is known by its address, which no other that runs may share.
func (l *loop) gather(seq *sequence) []*sequence {
	if seq.job.Choices < 2 || seq.scores != nil {
		return []*sequence{seq}
	}
	group := append(l.gathering[seq.job.Request], seq)
	if len(group) < seq.job.Choices {
		l.gathering[seq.job.Request] = group
		return nil
	}
	delete(l.gathering, seq.job.Request)
	return group
}

// left is called when a request ends. A decode that works for nobody any
// more is interrupted; one that others share goes on, and the loop drops
// the sequence after it.
func (l *loop) left() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.computing) > 0 && !slices.ContainsFunc(l.computing, func(s *sequence) bool { return !s.canceled() }) {
		l.backend.Interrupt()
	}
	// All choices of a request end with it: nobody waits for these any more.
	maps.DeleteFunc(l.gathering, func(_ *engine.Request, group []*sequence) bool {
		return slices.ContainsFunc(group, (*sequence).canceled)
	})
	l.news = true
	l.wake.Signal()
}

// close ends run and waits for it.
func (l *loop) close() {
	l.mu.Lock()
	l.closed = true
	l.backend.Interrupt()
	l.wake.Signal()
	l.mu.Unlock()
	<-l.stopped
}

// run is the loop. It returns after close.
func (l *loop) run() {
	defer close(l.stopped)
	for l.rest() {
		l.drop()
		l.admit()
		batch := l.plan()
		if len(batch) > 0 {
			l.step(batch)
		}
		worked, waits := l.look()
		l.stuck = waits && !worked && len(batch) == 0
		l.count()
	}
	l.mu.Lock()
	left := append(l.live, l.waiting...)
	for _, group := range l.gathering {
		left = append(left, group...)
	}
	l.live, l.waiting, l.gathering = nil, nil, nil
	l.mu.Unlock()
	for _, seq := range left {
		seq.fail(ErrUnloaded())
	}
}

// rest sleeps while there is nothing to do; false: the model is closed.
func (l *loop) rest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (len(l.live) == 0 && len(l.waiting) == 0 || l.stuck && !l.news) {
		l.wake.Wait()
	}
	l.news = false
	return !l.closed
}

// drop takes out the sequences whose requests ended. What they have read
// stays in the cache: clients that give up often come back.
func (l *loop) drop() {
	l.live = slices.DeleteFunc(l.live, func(s *sequence) bool {
		if !s.canceled() {
			return false
		}
		l.keep(s)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, (*sequence).canceled)
}

// admit lets waiting sequences in, in their turn, while there are numbers
// and cells. A sequence needs the cells of what it has to read; what the
// admitted ones have yet to read is spoken for, and a little more, so that
// it is not preempted at once.
func (l *loop) admit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 && len(l.live) < l.parallel {
		seq := l.waiting[0]
		if len(l.live) > 0 && !l.fits(seq) {
			return
		}
		l.waiting = behind(l.waiting[1:], seq.job.Request)
		if seq.age == 0 { // one that was preempted keeps its age
			l.age++
			seq.age = l.age
		}
		at, _ := slices.BinarySearchFunc(l.live, seq.age, func(s *sequence, age uint64) int { return int(s.age) - int(age) })
		l.live = slices.Insert(l.live, at, seq)
	}
}

// behind puts the sequences of a request, one of which was just admitted, behind
// all others: a request for many choices does not keep others out until it has
// them all.
func behind(waiting []*sequence, request *engine.Request) []*sequence {
	if request == nil {
		return waiting
	}
	others := make([]*sequence, 0, len(waiting))
	var same []*sequence
	for _, s := range waiting {
		if s.job.Request == request {
			same = append(same, s)
		} else {
			others = append(others, s)
		}
	}
	return append(others, same...)
}

// growth is the cells that admission leaves free for each sequence.
const growth = 64

func (l *loop) fits(seq *sequence) bool {
	shared, spoken := 0, 0
	for _, s := range l.live {
		if l.backend.Shares() {
			shared = max(shared, common(seq.tokens, s.tokens))
		}
		spoken += s.pending() + growth
	}
	return len(seq.tokens)-shared+growth+spoken <= l.cells.total()-l.cells.distinct(l.live)
}

// plan fills the next batch: the next token of every sequence that
// generates, then prompts in fair shares. Cells for all of it are free when
// it returns, and taken by step.
func (l *loop) plan() []Entry {
	for _, s := range l.live {
		s.rows = 0
		if s.id < 0 {
			l.start(s)
		}
	}
	generating := l.ready(false)
	for l.makeRoom(len(generating)) {
		generating = l.ready(false)
	}
	readers := l.ready(true)
	for len(generating) == 0 && len(readers) > 0 && l.makeRoom(1) {
		readers = l.ready(true)
	}
	for l.cells.available()-len(generating) < PrefillChunk && l.evict() {
	}
	share(readers, min(PrefillChunk, l.cells.available()-len(generating)))
	for _, s := range generating {
		s.rows = 1
	}
	return l.entries()
}

// ready lists the sequences that have a place and are reading tokens, or not.
func (l *loop) ready(reading bool) []*sequence {
	var list []*sequence
	for _, s := range l.live {
		if s.id >= 0 && s.reading() == reading && s.looking() == nil {
			list = append(list, s)
		}
	}
	return list
}

// makeRoom frees cells until n are free: kept texts go first, then the
// youngest sequence. It returns true when a sequence went, for then the
// caller's need has changed.
func (l *loop) makeRoom(n int) bool {
	for l.cells.available() < n {
		if !l.evict() {
			l.preempt()
			return true
		}
	}
	return false
}

// preempt takes the youngest sequence's cells. It goes back to the head of
// the queue, to be read again when there is room. The oldest is never
// preempted: the pool has room for any one sequence.
func (l *loop) preempt() {
	for i, seq := range slices.Backward(l.live) {
		if seq.id < 0 {
			continue
		}
		if i == 0 {
			return
		}
		l.log.Debug("out of cache cells; the youngest request waits", "tokens", len(seq.tokens))
		l.vacate(seq)
		l.live = slices.Delete(l.live, i, i+1)
		l.mu.Lock()
		l.waiting = slices.Insert(l.waiting, 0, seq)
		l.stats.Preempted++
		l.mu.Unlock()
		return
	}
}

// share divides n tokens among readers: equally, but what one does not need
// goes to the others.
func share(readers []*sequence, n int) {
	slices.SortStableFunc(readers, func(a, b *sequence) int { return a.readable() - b.readable() })
	for i, s := range readers {
		s.rows = min(s.readable(), n/(len(readers)-i))
		n -= s.rows
	}
}

// entries writes the batch that the sequences' rows describe.
func (l *loop) entries() []Entry {
	l.batch = l.batch[:0]
	for _, s := range l.live {
		read := len(s.cells)
		for i := read; i < read+s.rows; i++ {
			wanted := i == len(s.tokens)-1 || s.scores != nil
			l.batch = append(l.batch, Entry{s.tokens[i], int32(s.position(i)), int32(s.id), wanted})
		}
		s.row = len(l.batch) - 1
	}
	return l.batch
}

// count publishes what is so now.
func (l *loop) count() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Running = len(l.live)
	l.stats.Waiting = len(l.waiting)
	l.stats.Kept = len(l.kept)
	l.stats.FreeCells = l.cells.available()
}
