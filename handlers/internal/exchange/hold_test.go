package exchange

import (
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/budget"
)

// TestTooLargeToHold checks that an answer which never fits is not to be retried.
func TestTooLargeToHold(t *testing.T) {
	const all = 64 << 20
	picture := engine.Image{Data: make([]byte, 4<<20)}
	b := budget.New(all)
	other := b.Share()
	other.Reserve(all / 2)
	for _, tt := range []struct {
		name    string
		number  int
		code    engine.Code
		noRetry bool
	}{
		{"it has room", 1, "", false},
		{"others have it", 3, engine.CodeOverloaded, false},
		{"it never has", 4, engine.CodeInternal, true},
	} {
		x := &Exchange{Memory: b.Share()}
		var images []engine.Image
		for range tt.number {
			images = append(images, picture)
		}
		err := x.HoldImages(images)
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
