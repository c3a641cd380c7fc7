package runner

import (
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
)

// reasoned is an engine that answers with two large reasoning deltas and a prompt of so
// many bytes.
func reasoned(promptBytes int) *mirror {
	return &mirror{events: []engine.Event{
		engine.Start{Prompt: strings.Repeat("p", promptBytes)},
		engine.BlockStart{Kind: engine.BlockReasoning}, engine.ReasoningDelta{Text: strings.Repeat("a", maxTextPart)},
		engine.ReasoningDelta{Text: strings.Repeat("b", maxTextPart)}, engine.BlockStop{},
		engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{},
	}}
}

// TestMessagesTogether: a message holds its reservation until it is passed on, and
// another request waits for it.
func TestMessagesTogether(t *testing.T) {
	const room = maxTextPart*frameWeight + maxTextPart/2 // for one that is being read and half of one that was
	c := serve(t, reasoned(0))
	c.budget.messages = semaphore.NewWeighted(room)
	var first atomic.Bool // has been passed on
	var second sync.WaitGroup
	begun := make(chan struct{})
	for event, err := range c.Generate(t.Context(), order("m", "first")) {
		if err != nil {
			t.Fatal(err)
		}
		if d, is := event.(engine.ReasoningDelta); !is || d.Text[0] != 'b' {
			continue
		}
		if c.budget.messages.TryAcquire(maxTextPart * frameWeight) {
			t.Fatal("a message that is not handed on holds no memory")
		}
		second.Go(func() {
			for event, err := range c.Generate(t.Context(), order("m", "second")) {
				if err != nil {
					t.Error(err)
				}
				switch event.(type) {
				case engine.BlockStart:
					close(begun) // what follows is large
				case engine.ReasoningDelta:
					if !first.Load() {
						t.Error("another got a message that there is no room for")
					}
				}
			}
		})
		<-begun
		first.Store(true)
	}
	second.Wait()
	if !c.budget.messages.TryAcquire(room) {
		t.Error("memory is held behind the end of all")
	}
}

// TestSlowReaders: a reservation shrinks to the decoded size, so slow readers do not
// block others for more.
func TestSlowReaders(t *testing.T) {
	c := serve(t, reasoned(0))
	c.budget.messages = semaphore.NewWeighted(maxTextPart * frameWeight * 2)
	const readers = 18 // of the 20 that fit besides one that is being read
	for range readers {
		next, stop := iter.Pull2(c.Generate(t.Context(), order("m", "slow")))
		defer stop()
		for {
			event, err, more := next()
			if err != nil || !more {
				t.Fatalf("the answer ends: %v", err)
			}
			if _, is := event.(engine.ReasoningDelta); is {
				break // and takes no more
			}
		}
	}
	if _, err := engine.Collect(c.Generate(t.Context(), order("m", "quick"))); err != nil {
		t.Error(err)
	}
}

// TestNoRoomForLong: waiting for the budget times out as overloaded.
func TestNoRoomForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := reservation{budget: &Budget{messages: semaphore.NewWeighted(10), prompts: semaphore.NewWeighted(10)}}
		begun := time.Now()
		err := s.reserve(t.Context(), 11)
		if e := engine.AsError(err); e == nil || e.Code != engine.CodeOverloaded || e.RetryAfter < 1 {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(begun); waited != budgetTimeout {
			t.Errorf("it waited for %v", waited)
		}
		s.release()
		if !s.budget.messages.TryAcquire(10) {
			t.Error("room was taken")
		}
	})
}

// TestHeld: a delta holds its decoded size.
func TestHeld(t *testing.T) {
	tokens := []engine.TokenLogprob{{Token: []byte("ab"), Top: []engine.TokenLogprob{{Token: []byte("c")}}}, {}}
	for _, tt := range []struct {
		name string
		m    message
		want int64
	}{
		{"an event", engine.BlockStop{}, 100},
		{"a text", engine.TextDelta{Text: "abc"}, 3},
		{"its tokens", engine.TextDelta{Text: "abc", Logprobs: tokens}, int64(3 + 3*tokenSize + 3)},
	} {
		if got := memoryOf(tt.m, 100); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestWaitingEndsWithTheClient: waiting for the budget ends on cancel.
func TestWaitingEndsWithTheClient(t *testing.T) {
	c := serve(t, reasoned(0))
	c.budget.messages = semaphore.NewWeighted(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for event, err := range c.Generate(ctx, order("m", "first")) {
		last = err
		if _, is := event.(engine.BlockStart); is {
			cancel() // what follows is large
		}
	}
	if code(t, last) != engine.CodeCanceled {
		t.Errorf("error %v, want code %q", last, engine.CodeCanceled)
	}
}

// TestPromptsTogether: a prompt beyond the budget is dropped; the budget is released
// when a request ends.
func TestPromptsTogether(t *testing.T) {
	const size = 1 << 20
	c := serve(t, reasoned(size))
	c.budget.prompts = semaphore.NewWeighted(size * payloadWeight * 3 / 2)
	for event, err := range c.Generate(t.Context(), order("m", "first")) {
		if err != nil {
			t.Fatal(err)
		}
		if start, is := event.(engine.Start); is && len(start.Prompt) != size {
			t.Errorf("the first has a prompt of %d bytes, want %d", len(start.Prompt), size)
		}
		if _, is := event.(engine.BlockStop); !is {
			continue
		}
		for event, err := range c.Generate(t.Context(), order("m", "second")) {
			if err != nil {
				t.Fatal(err)
			}
			if start, is := event.(engine.Start); is && start.Prompt != "" {
				t.Errorf("the second has a prompt of %d bytes, want none", len(start.Prompt))
			}
		}
	}
	for event := range c.Generate(t.Context(), order("m", "third")) {
		if start, is := event.(engine.Start); is && len(start.Prompt) != size {
			t.Errorf("the third has a prompt of %d bytes, want %d", len(start.Prompt), size)
		}
	}
}
