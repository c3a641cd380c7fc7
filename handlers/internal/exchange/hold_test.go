package exchange

import (
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/budget"
)

// TestTooLargeToHold checks that an answer which never fits is not to be retried.
func TestTooLargeToHold(t *testing.T) {
	const all = 64 << 20
	b := budget.New(all)
	other := b.Share()
	other.Reserve(all / 2)
	for _, tt := range []struct {
		name    string
		number  int
		size    int // of each image
		code    engine.Code
		noRetry bool
	}{
		{"it has room", 1, 4 << 20, "", false},
		{"others have it", 3, 4 << 20, engine.CodeOverloaded, false},
		{"it never has", 1, 16 << 20, engine.CodeInternal, true},
	} {
		x := &Exchange{Memory: b.Share()}
		_, err := engine.CollectImages(x.Hold(func(yield func(engine.Event, error) bool) {
			for i := range tt.number {
				if !yield(engine.Drawn{Choice: i, Image: engine.Image{Data: make([]byte, tt.size)}}, nil) {
					return
				}
			}
		}))
		var got engine.Error
		if err != nil {
			got = *engine.AsError(err)
		}
		if got.Code != tt.code || got.NoRetry != tt.noRetry || (got.RetryAfter > 0) != (tt.code == engine.CodeOverloaded) {
			t.Errorf("%s: %v", tt.name, err)
		}
		x.Memory.Release()
	}
}

// TestHoldEach streams more than there is memory for, as only two images are held at a
// time; one that is too large ends the stream.
func TestHoldEach(t *testing.T) {
	const all = 64 << 20
	for _, tt := range []struct {
		name  string
		sizes []int
		code  engine.Code
		want  int // events
	}{
		{"many", []int{6 << 20, 6 << 20, 6 << 20, 6 << 20, 6 << 20}, "", 5},
		{"one is too large", []int{6 << 20, 16 << 20}, engine.CodeInternal, 1},
		{"two are", []int{9 << 20, 9 << 20}, engine.CodeInternal, 1},
	} {
		b := budget.New(all)
		x := &Exchange{Memory: b.Share()}
		got, least := 0, int64(all)
		var code engine.Code
		for event, err := range x.HoldEach(func(yield func(engine.Event, error) bool) {
			for i, size := range tt.sizes {
				var event engine.Event = engine.Drawn{Choice: i, Image: engine.Image{Data: make([]byte, size)}}
				if i%2 == 0 {
					event = engine.Preview{Drawn: event.(engine.Drawn)}
				}
				if !yield(event, nil) {
					return
				}
			}
		}) {
			if err != nil {
				code = engine.AsError(err).Code
				continue
			}
			if event != nil {
				got++
			}
			least = min(least, b.Free())
		}
		if got != tt.want || code != tt.code {
			t.Errorf("%s: %d events, code %q; want %d, %q", tt.name, got, code, tt.want, tt.code)
		}
		if held := int64(all) - least; held > 2*imageWeight*(6<<20)+4*itemWeight && tt.code == "" {
			t.Errorf("%s: %d bytes are held", tt.name, held)
		}
		x.Memory.Release()
		if b.Free() != all {
			t.Errorf("%s: %d bytes are free afterwards", tt.name, b.Free())
		}
	}
}
