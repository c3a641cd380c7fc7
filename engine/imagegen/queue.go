package imagegen

import (
	"context"
	"image"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

// maxWaiting is how many requests wait for a model, besides the one that is being
// drawn. Each holds little; the images of a request are drawn in one turn, so that
// only one request holds images.
const maxWaiting = 32

// queue lets one request draw at a time, in the order of their arrival. It measures
// how long images take, so that the log can say when a request's turn comes.
type queue struct {
	log  *slog.Logger
	step func() (step, of int) // of the image that is being drawn; 0 of 0: unknown

	mu    sync.Mutex
	turns []*turn // the first one draws
	pace  float64 // seconds per unit of work, a moving average; 0: nothing was drawn yet
}

// turn is a request in the queue.
type turn struct {
	ready chan struct{} // closed when it may draw
	work  float64       // of one image
	left  int           // images
	begun time.Time     // of the image that is being drawn; zero: none
}

// workOf is what an image costs: pixels of all steps. Guidance computes each step
// twice.
func workOf(job Job) float64 {
	passes := 1.0
	if job.Guidance > 1 {
		passes = 2
	}
	return float64(max(job.Steps, 1)) * passes * pixels(job.Size)
}

func pixels(size image.Point) float64 { return float64(size.X) * float64(size.Y) }

// enter waits for the turn of a request for so many images.
func (q *queue) enter(ctx context.Context, job Job, images int) (*turn, *engine.Error) {
	t, full := q.join(job, images)
	if full != nil {
		return nil, full
	}
	start := time.Now()
	select {
	case <-t.ready:
	case <-ctx.Done():
		q.leave(t)
		return nil, engine.AsError(ctx.Err())
	}
	if waited := time.Since(start); waited > 0 {
		q.log.Info("drawing begins", "waited", waited.Round(time.Millisecond))
	}
	return t, nil
}

// join adds a request to the queue.
func (q *queue) join(job Job, images int) (*turn, *engine.Error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	place := len(q.turns)
	wait := q.expected()
	if place > maxWaiting {
		full := engine.Errorf(engine.CodeOverloaded, "Too many requests wait for this model to draw.")
		full.RetryAfter = int(max(math.Ceil(wait.Seconds()/float64(place)), 1)) // when the next one has left
		return nil, full
	}
	t := &turn{ready: make(chan struct{}), work: workOf(job), left: images}
	q.turns = append(q.turns, t)
	if place == 0 {
		close(t.ready)
		return t, nil
	}
	if q.measured() {
		q.log.Info("waiting to draw", "place", place, "expected", wait.Round(time.Second))
	} else {
		q.log.Info("waiting to draw", "place", place, "expected", "unknown")
	}
	return t, nil
}

// leave removes a request, and gives the turn to the next one if it was drawing.
func (q *queue) leave(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.turns, t)
	q.turns = slices.Delete(q.turns, i, i+1)
	if i == 0 && len(q.turns) > 0 {
		close(q.turns[0].ready)
	}
}

// began records that an image of t is being drawn.
func (q *queue) began(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.begun = time.Now()
}

// paceWeight is that of the last image in the moving average.
const paceWeight = 0.5

// drew records that an image of t is finished.
func (q *queue) drew(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	pace := time.Since(t.begun).Seconds() / t.work
	if q.pace > 0 {
		pace = paceWeight*pace + (1-paceWeight)*q.pace
	}
	q.pace, t.begun = pace, time.Time{}
	t.left--
}

// measured reports whether expected knows anything. The caller holds the mutex.
func (q *queue) measured() bool { return q.current() > 0 }

// current is the pace: of finished images, or else of the steps of the first one so
// far. The caller holds the mutex.
func (q *queue) current() float64 {
	if q.pace > 0 || len(q.turns) == 0 || q.turns[0].begun.IsZero() {
		return q.pace
	}
	done := q.done()
	if done == 0 {
		return 0
	}
	t := q.turns[0]
	return time.Since(t.begun).Seconds() / (t.work * done)
}

// done is the finished part of the image that is being drawn. The caller holds the
// mutex.
func (q *queue) done() float64 {
	if step, of := q.step(); of > 0 {
		return float64(step) / float64(of)
	}
	return 0
}

// expected is how long all requests in the queue will take. The caller holds the
// mutex.
func (q *queue) expected() time.Duration {
	work := 0.0
	for _, t := range q.turns {
		work += t.work * float64(t.left)
		if !t.begun.IsZero() {
			work -= t.work * q.done()
		}
	}
	return time.Duration(work * q.current() * float64(time.Second))
}
