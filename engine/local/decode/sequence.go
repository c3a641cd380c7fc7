package decode

import (
	"context"
	"sync"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// sequence is one text in the making: a prompt and its continuation.
type sequence struct {
	ctx     context.Context
	job     chat.Job
	sampler *sampler
	out     *outbox

	age    uint64                // order of admission; smaller is older
	tokens []int32               // prompt, then what was generated
	views  []*view               // images in the prompt, in order
	scores []engine.TokenLogprob // of the prompt, where that is what is wanted
	made   int                   // how many pieces were put out
	done   bool                  // the last was
	cached int                   // tokens of the prompt that were not read; -1: not known yet

	// While the sequence holds a place in the cache, id is its number there
	// and tokens[:len(cells)] have been read.
	id    int // -1: none
	cells []int32

	rows int // tokens of it in the batch that is being computed
	row  int // of the last of them
}

func newSequence(ctx context.Context, vocab *Vocabulary, job chat.Job) *sequence {
	return &sequence{
		ctx:     ctx,
		job:     job,
		sampler: newSampler(vocab, job),
		out:     newOutbox(),
		tokens:  append([]int32(nil), job.Prompt...),
		cached:  -1,
		id:      -1,
	}
}

// pending is how many tokens have not been read. It is 1 while a sequence
// generates: the token that was chosen last.
func (s *sequence) pending() int { return len(s.tokens) - len(s.cells) }

func (s *sequence) reading() bool { return s.pending() > 1 }

func (s *sequence) canceled() bool { return s.ctx.Err() != nil }

// put sends a piece. Each says what was cached: a request may end at any.
func (s *sequence) put(p chat.Piece) {
	p.Cached = max(s.cached, 0)
	s.out.put(p)
}

// end sends the last piece.
func (s *sequence) end(why chat.End) {
	s.done = true
	s.put(chat.Piece{End: why})
	s.out.close(nil)
}

func (s *sequence) fail(err *engine.Error) {
	s.done = true
	s.out.close(err)
}

// outbox hands pieces from the loop to the request. It never makes the loop
// wait: what a slow client has not taken is bounded by its own MaxTokens.
type outbox struct {
	mu     sync.Mutex
	pieces []chat.Piece
	closed bool
	err    *engine.Error
	signal chan struct{} // has room for one: something is new
}

func newOutbox() *outbox { return &outbox{signal: make(chan struct{}, 1)} }

func (o *outbox) put(p chat.Piece) {
	o.mu.Lock()
	o.pieces = append(o.pieces, p)
	o.mu.Unlock()
	o.wake()
}

func (o *outbox) close(err *engine.Error) {
	o.mu.Lock()
	o.closed, o.err = true, err
	o.mu.Unlock()
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// take waits for pieces and returns all there are. With done set, no more
// will come.
func (o *outbox) take(ctx context.Context) (pieces []chat.Piece, done bool, err *engine.Error) {
	for {
		select {
		case <-ctx.Done():
			return nil, true, engine.AsError(context.Cause(ctx))
		case <-o.signal:
		}
		o.mu.Lock()
		pieces, o.pieces = o.pieces, nil
		done, err = o.closed, o.err
		o.mu.Unlock()
		if done || len(pieces) > 0 {
			return pieces, done, err
		}
	}
}
