package bounds

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// TestRenderingBehindAnother has one that keeps the others waiting: they are told to
// come again, and no fault is found with the template.
func TestRenderingBehindAnother(t *testing.T) {
	b := New()
	held, release := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		text, err := b.Run(t.Context(), func(m *Meter) (string, error) {
			err := m.Charge(3 * CheckEvery)
			close(held)
			<-release
			return "done", err
		})
		if text != "done" || err != nil {
			t.Errorf("the first one gives %q, %v", text, err)
		}
	})
	<-held
	b.turns.maxWait = time.Millisecond
	if err := b.meter(t.Context()).Charge(2 * CheckEvery); !errors.Is(err, ErrBusy) {
		t.Errorf("behind it: %v, want %v", err, ErrBusy)
	}
	b.turns.waiting.Store(maxWaiting)
	b.turns.maxWait = time.Hour
	if err := b.meter(t.Context()).Charge(2 * CheckEvery); !errors.Is(err, ErrBusy) {
		t.Errorf("behind many: %v, want %v", err, ErrBusy)
	}
	b.turns.waiting.Store(0)
	close(release)
	all.Wait()
	if len(b.turns.slot) != 0 {
		t.Error("the slot is not given back")
	}
}
