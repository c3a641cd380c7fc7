package imagegen_test

import (
	"bytes"
	"context"
	"image"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/imagegen"
)

// slow takes a second for each step of an image of 64x64 pixels, and counts how many
// it draws at a time.
type slow struct {
	blank
	drawing atomic.Int32
	most    atomic.Int32
	drawn   atomic.Int32
	at      atomic.Int64 // step
}

const slowSteps = 4

func (s *slow) Info() imagegen.Info {
	info := s.blank.Info()
	info.Steps, info.Guidance = slowSteps, 1
	return info
}

func (s *slow) Step() (step, of int) { return int(s.at.Load()), slowSteps }

func (s *slow) Draw(ctx context.Context, job imagegen.Job) (image.Image, error) {
	s.most.Store(max(s.most.Load(), s.drawing.Add(1)))
	defer s.drawing.Add(-1)
	defer s.at.Store(0)
	for range job.Steps {
		time.Sleep(time.Second * time.Duration(job.Size.X*job.Size.Y) / (64 * 64))
		s.at.Add(1)
		if ctx.Err() != nil { // like the real engine, it ends after a step
			return nil, engine.AsError(ctx.Err())
		}
	}
	s.drawn.Add(1)
	return image.NewGray(image.Rectangle{Max: job.Size}), nil
}

// shared is the log of concurrent requests.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func newSlow() (*slow, engine.Engine, *shared) {
	s, log := &slow{}, &shared{}
	return s, imagegen.New(s, func() uint64 { return 0 }, slog.New(slog.NewTextHandler(log, nil))), log
}

func ask(ctx context.Context, e engine.Engine, n int) error {
	_, err := engine.CollectImages(e.GenerateImages(ctx, &engine.ImageRequest{Model: "org/m", Prompt: "p", Choices: n, Width: 64, Height: 64}))
	return err
}

// TestQueue: requests draw in the order of their arrival, one image at a time, and
// the log says how long they wait.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e, log := newSlow()
		if err := ask(t.Context(), e, 1); err != nil { // from which the pace is known
			t.Fatal(err)
		}
		var order shared
		for _, name := range []string{"a", "b", "c"} {
			go func() {
				if err := ask(t.Context(), e, 2); err != nil {
					t.Error(err)
				}
				order.Write([]byte(name))
			}()
			time.Sleep(1400 * time.Millisecond)
		}
		start := time.Now()
		synctest.Wait()
		time.Sleep(time.Hour)
		if got := order.String(); got != "abc" {
			t.Errorf("order %q of images that were asked for as abc", got)
		}
		if s.most.Load() != 1 || s.drawn.Load() != 7 {
			t.Errorf("%d images, %d at a time", s.drawn.Load(), s.most.Load())
		}
		// b came 1.4 s after a, which takes 8 s: one step is done. c came 1.4 s later.
		for _, want := range []string{"place=1 expected=7s", "place=2 expected=14s", `msg="drawing begins" waited=6.6s`, `msg="drawing begins" waited=13.2s`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is missing in the log, at %v:\n%s", want, start, log.String())
			}
		}
	})
}

// TestQueuePaceOfSteps: before the first image is finished, its steps tell the pace.
func TestQueuePaceOfSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, e, log := newSlow()
		for range 3 {
			go func() {
				if err := ask(t.Context(), e, 1); err != nil {
					t.Error(err)
				}
			}()
			time.Sleep(750 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		// The third came after 1.5 s, of which the first step took all that is known.
		for _, want := range []string{"place=1 expected=unknown", "place=2 expected=11s"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is missing in the log:\n%s", want, log.String())
			}
		}
	})
}

// TestQueueLeave: a client that leaves frees its place, while waiting at once and
// while drawing within a step.
func TestQueueLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e, _ := newSlow()
		begin := func() (cancel func(), result chan error) {
			ctx, cancel := context.WithCancel(t.Context())
			result = make(chan error, 1)
			go func() { result <- ask(ctx, e, 1) }()
			synctest.Wait()
			return cancel, result
		}
		leaveFirst, first := begin()
		leaveSecond, second := begin()
		_, third := begin()
		start := time.Now()
		leaveSecond()
		if err := <-second; engine.AsError(err).Code != engine.CodeCanceled || time.Since(start) != 0 {
			t.Errorf("waiting: error %v after %v", err, time.Since(start))
		}
		time.Sleep(500 * time.Millisecond)
		leaveFirst()
		if err := <-first; engine.AsError(err).Code != engine.CodeCanceled || time.Since(start) != time.Second {
			t.Errorf("drawing: error %v after %v", err, time.Since(start))
		}
		if err := <-third; err != nil || time.Since(start) != 5*time.Second || s.drawn.Load() != 1 {
			t.Errorf("the next one: error %v after %v, %d images", err, time.Since(start), s.drawn.Load())
		}
	})
}

// TestQueueIsBounded: one more than the queue holds is refused with the time after
// which it has a place.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, e, _ := newSlow()
		if err := ask(t.Context(), e, 1); err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 50)
		for range 50 {
			go func() { results <- ask(t.Context(), e, 1) }()
		}
		refused := 0
		for range 50 {
			err := <-results
			if err == nil {
				continue
			}
			refused++
			if got := engine.AsError(err); got.Code != engine.CodeOverloaded || got.RetryAfter != slowSteps {
				t.Errorf("error %v, retry after %d s", got, got.RetryAfter)
			}
		}
		if refused != 50-33 || s.drawn.Load() != 34 {
			t.Errorf("%d refused, %d drawn", refused, s.drawn.Load())
		}
	})
}
