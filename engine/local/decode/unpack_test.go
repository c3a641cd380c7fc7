package decode

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// TestUnpackingHoldsNobodyUp has a picture that takes long to unpack: others
// go on, the loop rests while there is nothing else, and the sequence goes on
// when the pixels are there.
func TestUnpackingHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := seeingModel(t, c, 2, 2048, Section{Cells: 9})
		held := make(chan struct{})
		m.eye.(*lens).held = held
		var seen result
		done := make(chan struct{})
		go func() {
			seen = collect(t.Context(), m, show(t, m, 10, 1))
			close(done)
		}()
		synctest.Wait() // a loop that spins never lets this return
		if len(c.eye.encoded) > 0 {
			t.Error("the picture was encoded before it was unpacked")
		}
		collect(t.Context(), m, chat.Job{Prompt: prompt(7, 39, 20), MaxTokens: 5}).check(t, "another", counted(20, 5), chat.EndLength)
		synctest.Wait()
		close(held)
		<-done
		seen.check(t, "the one with the picture", counted(10, 5), chat.EndLength)
		m.Close()
	})
}

// TestUnpackingEnds holds that a sequence leaves while its picture is
// unpacked, and that the model can be closed then.
func TestUnpackingEnds(t *testing.T) {
	for _, end := range []string{"the client leaves", "the model is closed"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := seeingModel(t, newCounter(t, 4096), 2, 2048, Section{Cells: 9})
				m.eye.(*lens).held = make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan result)
				go func() { done <- collect(ctx, m, show(t, m, 10, 1)) }()
				synctest.Wait()
				if end == "the client leaves" {
					cancel()
				} else {
					m.Close()
				}
				r := <-done
				if code := engine.AsError(r.err).Code; code != engine.CodeCanceled && code != engine.CodeOverloaded {
					t.Errorf("error %v", r.err)
				}
				cancel()
				m.Close()
			})
		})
	}
}

// TestBrokenPixels holds that a picture that cannot be unpacked ends its own
// sequence alone.
func TestBrokenPixels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := seeingModel(t, newCounter(t, 4096), 2, 2048, Section{Cells: 9})
		views, err := findViews(t.Context(), show(t, m, 10, 1), m.eye)
		if err != nil {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		p := views[0].pixels
		p.unpack = func(context.Context) ([]byte, error) { return nil, broken }
		s := newSequence(t.Context(), m.vocab, show(t, m, 10, 1))
		if m.loop.unpacked(s, p) {
			t.Error("it is there before it was made")
		}
		synctest.Wait()
		if !m.loop.unpacked(s, p) || p.err != broken {
			t.Errorf("the pixels are %+v", p)
		}
		m.Close()
	})
}
