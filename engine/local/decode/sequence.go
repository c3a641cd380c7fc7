package decode

import (
	"context"
	"sync"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// sequence is a prompt and its continuation.
type sequence struct {
	ctx     context.Context
	job     chat.Job
	sampler *sampler
	out     *outbox

	age       uint64                // order of admission; smaller is older
	tokens    []int32               // prompt, then what was generated
	images    []*imageChunk         // images in the prompt, in order
	scores    []engine.TokenLogprob // of the prompt's tokens; nil: not requested
	generated int                   // tokens
	done      bool
	cached    int // prompt tokens in the shared prefix; -1: not known yet

	id    int     // in the KV cache; -1: it has no slot
	cells []int32 // of tokens[:len(cells)]

	rows    int // in the current batch
	lastRow int // index of the last of them

	few     [][]int32 // by row with logits, the tokens that the grammar allows; nil: they are many
	guesser *guesser  // nil: nothing was guessed yet
	drafted int       // rows of a guess, the last of those in the current batch
	slot    *slot     // of the second model; nil: it was not asked
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

// held are the cells of s.
func (s *sequence) held() []int32 { return s.cells }

// pending is how many tokens are not decoded yet: while a sequence generates
// only the one that was sampled last.
func (s *sequence) pending() int { return len(s.tokens) - len(s.cells) }

// token returns a token of the text or of the guess that follows.
func (s *sequence) token(i int) int32 {
	if i < len(s.tokens) {
		return s.tokens[i]
	}
	return s.guesser.Tokens[i-len(s.tokens)]
}

func (s *sequence) prefilling() bool { return s.pending() > 1 }

func (s *sequence) canceled() bool { return s.ctx.Err() != nil }

// put sends a piece. Each has the cached count, since any may be the last.
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

// outbox passes pieces from the loop to the request. It never blocks the loop;
// MaxTokens bounds how much a slow client leaves in it.
type outbox struct {
	mu     sync.Mutex
	pieces []chat.Piece
	closed bool
	err    *engine.Error
	signal chan struct{} // capacity 1
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

// take waits for pieces and returns all that are there. done: these are the last.
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
