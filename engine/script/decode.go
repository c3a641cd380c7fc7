package script

import (
	"context"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// Decode implements [chat.Model]: it plays the reply that fits job.Request.
// Sampling has no effect, and every choice of a request plays the same reply.
func (m *Model) Decode(ctx context.Context, job chat.Job) iter.Seq2[chat.Piece, error] {
	return func(yield func(chat.Piece, error) bool) {
		i, err := m.pick(job.Request)
		if err != nil {
			yield(chat.Piece{}, err)
			return
		}
		p := &player{model: m, number: i + 1, reply: m.replies[i], job: job}
		switch end, err := p.play(ctx, yield); {
		case err != nil:
			yield(chat.Piece{}, err)
		case end != chat.EndNone:
			yield(chat.Piece{End: end}, nil)
		}
	}
}

// player plays one reply once.
type player struct {
	model  *Model
	number int // of the reply, from 1
	reply  reply
	job    chat.Job
}

// play yields the tokens of the reply and returns how it ended: EndNone if the
// caller stopped the iteration.
func (p *player) play(ctx context.Context, yield func(chat.Piece, error) bool) (chat.End, error) {
	tokens := 0
	for _, piece := range p.reply.pieces {
		if piece.text == nil {
			if err := p.wait(ctx, piece.sleep); err != nil {
				return chat.EndNone, err
			}
			continue
		}
		if err := p.ended(ctx); err != nil {
			return chat.EndNone, err
		}
		if err := p.constrain(piece.text); err != nil {
			return chat.EndNone, err
		}
		if !yield(p.token(piece.text), nil) {
			return chat.EndNone, nil
		}
		if tokens++; tokens >= p.job.MaxTokens {
			return chat.EndLength, nil
		}
	}
	return p.finish(ctx)
}

// forever is a pause that lasts until the request or the model ends.
const forever = time.Duration(math.MaxInt64)

// wait pauses for d, or until the request or the model ends.
func (p *player) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-p.model.closed:
	}
	return p.ended(ctx)
}

// ended returns an error if the request or the model has ended.
func (p *player) ended(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return engine.AsError(ctx.Err())
	case <-p.model.closed:
		return engine.Errorf(engine.CodeInternal, "Model %q was closed.", p.model.info.Name)
	default:
		return nil
	}
}

func (p *player) finish(ctx context.Context) (chat.End, error) {
	switch p.reply.finish {
	case finishLength:
		return chat.EndLength, nil
	case finishCrash:
		return chat.EndNone, engine.Errorf(engine.CodeEngineCrashed, "The process of model %q ended while it worked on this request.", p.model.info.Name)
	case finishStall:
		return chat.EndNone, p.wait(ctx, forever)
	}
	return chat.EndOfTurn, p.complete()
}

// token returns the piece of one token. The probabilities are made up: 1/2 for
// the token, 1/4, 1/8 and so on for "alternative 1", "alternative 2" and so on.
func (p *player) token(text []byte) chat.Piece {
	piece := chat.Piece{Bytes: text, Logprob: -math.Ln2}
	if p.job.Logprobs != nil {
		piece.Top = alternatives(text, *p.job.Logprobs)
	}
	return piece
}

// alternatives returns the n most likely tokens, of which text is the first.
func alternatives(text []byte, n int) []engine.TokenLogprob {
	var top []engine.TokenLogprob
	for i := range n {
		alternative := engine.TokenLogprob{Token: text, Logprob: -math.Ln2 * float64(i+1)}
		if i > 0 {
			alternative.Token = []byte("alternative " + strconv.Itoa(i))
		}
		top = append(top, alternative)
	}
	return top
}
