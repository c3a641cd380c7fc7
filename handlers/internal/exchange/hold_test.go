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
