package decode

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
)

// Backend computes batches. Only Interrupt may be called concurrently.
type Backend interface {
	// Decode decodes tokens that continue their sequences. sharedPrefix says
	// that most KV cells are attended to by several of the tokens.
	Decode(batch []Entry, sharedPrefix bool) Outcome

	// Encode computes the embeddings of an image chunk. The error is for the
	// log.
	Encode(v ImageInput) ([]float32, Outcome, error)

	// DecodeImage decodes image embeddings that continue their sequence.
	DecodeImage(g ImageBatch) Outcome

	// Logits returns the logits of a batch row. The memory is llama.cpp's,
	// valid until the next decode, and may be written.
	Logits(row int) []float32

	// CopySequence shares the first n positions of src with dst, which is empty.
	CopySequence(src, dst, n int)
	RemoveSequence(id int)

	// Truncate drops what a sequence has from position n on.
	Truncate(id, n int)

	// SharesPrefixes reports whether sequences can share a prefix. A recurrent
	// model cannot: its state covers a whole sequence.
	// Nor can it be truncated.
	SharesPrefixes() bool

	// Independent reports whether what a token is computed to, to the last bit, depends
	// on no other token of its batch. It is false until a batch was computed.
	Independent() bool

	// HasStart reports whether the cache still has the sequence's first token,
	// which models with sliding-window attention drop.
	HasStart(id int) bool

	// Interrupt aborts a running decode, which then has no effect, and further
	// ones until Resume.
	Interrupt()
	Resume()
}

// Entry is one token of a batch.
type Entry struct {
	Token    int32
	Position int32
	Sequence int32
	Logits   bool // whether to compute logits

	// Only are the tokens whose logits are wanted, in order; none: all. Others may
	// be minus infinity.
	Only []int32
}

// Outcome is how a decode ended.
type Outcome int

const (
	Computed    Outcome = iota
	CacheFull           // no free KV cells; nothing was decoded
	Interrupted         // nothing was decoded
	Failed              // the state of the batch's sequences is unknown
)

func (o Outcome) String() string {
	return [...]string{Computed: "computed", CacheFull: "cache full", Interrupted: "interrupted", Failed: "failed"}[o]
}

// Larger prefill chunks amortize weight reads but spill out of the CPU caches
// and delay generating sequences. (On two x86-64 cores, with models of 0.1 to
// 1.5 billion parameters, chunks of 128 tokens prefill 1.0 to 1.4 times as fast
// as chunks of 512, and as fast as chunks of 256. So nothing is measured when a
// model is loaded.)
const (
	PrefillChunk = memory.PrefillChunk

	// BatchRows fits a prefill chunk with a token of each generating sequence,
	// and an image chunk with non-causal attention.
	BatchRows = memory.BatchRows
)

// loop schedules the sequences of one model. Fields below mu are shared with
// requests; the others are confined to the goroutine of run.
type loop struct {
	backend Backend
	vocab   *Vocabulary
	log     *slog.Logger
	context int // most tokens in a sequence

	running []*sequence // admitted, oldest first
	cached  []*sequence // ended, least recently used first
	cells   *cells
	drafter *drafter // nil: it guesses nothing
	starts  starts   // of tokens, for texts that a grammar constrains
	ids     []int    // free sequence IDs
	age     uint64
	batch   []Entry
	blocked bool // nothing to do until pixels are decoded

	parallel int
	stopped  chan struct{} // run has returned

	mu        sync.Mutex
	wake      *sync.Cond
	waiting   []*sequence                     // the admission queue
	gathering map[*engine.Request][]*sequence // requests whose choices have not all been submitted
	computing []*sequence                     // in the running decode
	closed    bool
	signaled  bool // since the loop last woke up
	stats     Stats
}

// Stats are counters since the model was loaded.
type Stats struct {
	Steps         int // batches and image chunks
	Prefilled     int // prompt tokens, again after preemption
	Reused        int // prompt tokens in shared prefixes
	Generated     int
	Drafted       int // tokens that were guessed and checked
	Held          int // and were right
	DraftSteps    int // batches of the second model
	DraftChecked  int // of the tokens that were guessed and checked, those of the second model
	DraftHeld     int // and were right
	ImagesEncoded int // image chunks
	Preempted     int // sequences

	Decoding time.Duration // in llama.cpp
	Sampling time.Duration

	// The current state.
	Running        int // sequences
	Waiting        int // sequences
	CachedPrefixes int
	FreeCells      int
}

func newLoop(b Backend, vocab *Vocabulary, parallel, context, pool int, log *slog.Logger) *loop {
	l := &loop{
		backend:  b,
		vocab:    vocab,
		log:      log,
		context:  context,
		cells:    newCells(pool),
		starts:   starts{vocab: vocab},
		parallel: parallel,
		stopped:  make(chan struct{}),

		gathering: map[*engine.Request][]*sequence{},
	}
	for id := range SequenceIDs(parallel, b.SharesPrefixes()) {
		l.ids = append(l.ids, id)
	}
	l.wake = sync.NewCond(&l.mu)
	l.stats.FreeCells = pool
	return l
}

// SequenceIDs is how many sequence IDs llama.cpp needs: for all running and
// cached sequences, and for one more before the oldest cached one is evicted.
func SequenceIDs(parallel int, shares bool) int {
	if !shares {
		return parallel
	}
	return parallel + maxCachedPrefixes + 1
}

// onCancel interrupts the running decode if all its sequences are canceled.
// Otherwise the loop drops the canceled ones after it.
func (l *loop) onCancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.computing) > 0 && !slices.ContainsFunc(l.computing, func(s *sequence) bool { return !s.canceled() }) {
		l.interrupt()
	}
	// The choices of a request are canceled together.
	maps.DeleteFunc(l.gathering, func(_ *engine.Request, group []*sequence) bool {
		return slices.ContainsFunc(group, (*sequence).canceled)
	})
	l.signaled = true
	l.wake.Signal()
}

// close stops run and waits for it.
func (l *loop) close() {
	l.mu.Lock()
	l.closed = true
	l.interrupt()
	l.wake.Signal()
	l.mu.Unlock()
	<-l.stopped
}

// interrupt interrupts the running decode of either model. The caller holds the mutex.
func (l *loop) interrupt() {
	l.backend.Interrupt()
	if l.drafter != nil && l.drafter.second != nil {
		l.drafter.second.Backend.Interrupt()
	}
}

// resume ends what interrupt began. The caller holds the mutex.
func (l *loop) resume() {
	l.backend.Resume()
	if l.drafter != nil && l.drafter.second != nil {
		l.drafter.second.Backend.Resume()
	}
}

// run is the loop, until close.
func (l *loop) run() {
	defer close(l.stopped)
	for l.wait() {
		l.dropCanceled()
		l.admit()
		batch := l.plan()
		if len(batch) > 0 {
			l.step(batch)
		}
		worked, waits := l.imageStep()
		l.blocked = waits && !worked && len(batch) == 0
		l.publishStats()
	}
	l.mu.Lock()
	unfinished := append(l.running, l.waiting...)
	for _, group := range l.gathering {
		unfinished = append(unfinished, group...)
	}
	l.running, l.waiting, l.gathering = nil, nil, nil
	l.mu.Unlock()
	for _, seq := range unfinished {
		seq.fail(ErrUnloaded())
	}
}

// wait blocks while there is nothing to do. It returns false if the model is
// closed.
func (l *loop) wait() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.closed && (len(l.running) == 0 && len(l.waiting) == 0 || l.blocked && !l.signaled) {
		l.wake.Wait()
	}
	l.signaled = false
	return !l.closed
}

// dropCanceled removes canceled sequences. They stay in the cache: clients that
// give up often retry.
func (l *loop) dropCanceled() {
	l.running = slices.DeleteFunc(l.running, func(s *sequence) bool {
		if !s.canceled() {
			return false
		}
		l.cachePrefix(s)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, (*sequence).canceled)
}

// plan fills the next batch: a token of every generating sequence, then prefill
// chunks in fair shares. It frees cells for them, which step allocates.
func (l *loop) plan() []Entry {
	for _, s := range l.running {
		s.rows, s.drafted = 0, 0
		if s.id < 0 {
			l.start(s)
		}
	}
	generating := l.ready(false)
	for l.freeCells(len(generating)) {
		generating = l.ready(false)
	}
	prefilling := l.ready(true)
	for len(generating) == 0 && len(prefilling) > 0 && l.freeCells(1) {
		prefilling = l.ready(true)
	}
	for l.cells.available()-len(generating) < PrefillChunk && l.evict() {
	}
	l.splitChunk(prefilling, min(PrefillChunk, l.cells.available()-len(generating)))
	for _, s := range generating {
		s.rows = 1
	}
	if len(prefilling) == 0 {
		l.draft(generating)
	}
	return l.fillBatch()
}

// ready lists the sequences that have a slot and whose next input is a token:
// those that prefill, or those that generate.
func (l *loop) ready(prefilling bool) []*sequence {
	var list []*sequence
	for _, s := range l.running {
		if s.id >= 0 && s.prefilling() == prefilling && s.nextImage() == nil {
			list = append(list, s)
		}
	}
	return list
}

// freeCells makes n cells free: it evicts cached prefixes, then preempts the
// youngest sequence. It returns true after preempting one, because then the
// caller has to count anew.
func (l *loop) freeCells(n int) bool {
	for l.cells.available() < n {
		if !l.evict() {
			l.preempt()
			return true
		}
	}
	return false
}

// preempt moves the youngest sequence back to the head of the queue, to be
// prefilled again later. The oldest is never preempted: the pool is large enough
// for any one sequence.
func (l *loop) preempt() {
	for i, seq := range slices.Backward(l.running) {
		if seq.id < 0 {
			continue
		}
		if i == 0 {
			return
		}
		l.log.Debug("out of KV cells; preempting the youngest request", "tokens", len(seq.tokens))
		l.freeSlot(seq)
		seq.guesser = nil // takes memory
		l.running = slices.Delete(l.running, i, i+1)
		l.mu.Lock()
		l.waiting = slices.Insert(l.waiting, 0, seq)
		l.stats.Preempted++
		l.mu.Unlock()
		return
	}
}

// splitChunk divides n batch rows equally; what a sequence does not need goes to
// the others. The last token of a prompt is among them only if it gets the same logits
// alone. Otherwise it is decoded with the generating sequences, as it is when the rest is
// cached: a repeated request must give the same text.
func (l *loop) splitChunk(prefilling []*sequence, n int) {
	alone := 1
	if l.backend.Independent() {
		alone = 0
	}
	slices.SortStableFunc(prefilling, func(a, b *sequence) int { return a.prefillLimit(alone) - b.prefillLimit(alone) })
	for i, s := range prefilling {
		s.rows = min(s.prefillLimit(alone), n/(len(prefilling)-i))
		n -= s.rows
	}
}

// fillBatch writes the rows of each sequence to the batch.
func (l *loop) fillBatch() []Entry {
	l.batch = l.batch[:0]
	for _, s := range l.running {
		l.allow(s)
		decoded := len(s.cells)
		for i := decoded; i < decoded+s.rows; i++ {
			e := Entry{Token: s.token(i), Position: int32(s.position(i)), Sequence: int32(s.id), Logits: i >= len(s.tokens)-1 || s.scores != nil}
			if s.job.Logprobs == nil {
				e.Only = s.fewAt(i - (len(s.tokens) - 1))
			}
			l.batch = append(l.batch, e)
		}
		s.lastRow = len(l.batch) - 1
	}
	return l.batch
}

// publishStats updates the current state in stats.
func (l *loop) publishStats() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Running = len(l.running)
	l.stats.Waiting = len(l.waiting)
	l.stats.CachedPrefixes = len(l.cached)
	l.stats.FreeCells = l.cells.available()
}
