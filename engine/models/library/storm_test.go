package library

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// TestStorm does everything at once: requests, some of which are given up,
// while models are loaded, stopped, copied, made anew and removed. Every
// request is answered by a model that had its name, the memory is never given
// out twice, and nothing is left behind.
func TestStorm(t *testing.T) {
	const workers, rounds, budget = 8, 60, 5000
	h := newHouse(t, Config{Budget: budget, Context: 1000, KeepAlive: time.Millisecond})
	within := h.Engine.config.Start
	h.Engine.config.Start = func(ctx context.Context, l Launch) (Instance, error) {
		instance, err := within(ctx, l)
		if n := h.running(); n*2000 > budget {
			t.Errorf("%d models are in memory", n)
		}
		return instance, err
	}
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		h.create(t, name, name+"...", 1000, "")
	}
	var group sync.WaitGroup
	for w := range workers {
		random := rand.New(rand.NewPCG(1, uint64(w)))
		group.Go(func() {
			for range rounds {
				h.stir(t, random, names)
			}
		})
	}
	group.Wait()
	for _, l := range h.Loaded() {
		if l.Requests != 0 {
			t.Errorf("%d requests are left at %q", l.Requests, l.Name)
		}
	}
	_ = h.Close()
	if n := h.running(); n != 0 {
		t.Errorf("%d instances are left", n)
	}
	if len(h.serving) != 0 || len(h.leaving) != 0 || h.waiting != 0 {
		t.Errorf("%d residents serve, %d leave, %d requests wait", len(h.serving), len(h.leaving), h.waiting)
	}
}

// stir does one thing of many.
func (h *house) stir(t *testing.T, random *rand.Rand, names []string) {
	name := names[random.IntN(len(names))]
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch what := random.IntN(20); what {
	case 0:
		h.create(t, name, name+fmt.Sprintf("%03d", random.IntN(1000)), 1000, "")
	case 1:
		if err := h.store.Remove(ctx, parse(t, name)); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	case 2, 3:
		other := names[random.IntN(len(names))]
		if err := h.store.Copy(ctx, parse(t, name), parse(t, other)); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	case 4:
		if err := h.Stop(ctx, name); err != nil && engine.AsError(err).Code != engine.CodeModelNotFound {
			t.Error(err)
		}
	case 5:
		h.Loaded()
	case 6:
		time.AfterFunc(time.Duration(random.IntN(1000))*time.Microsecond, cancel)
		fallthrough
	default:
		_, err := h.ask(ctx, name)
		switch code := engine.AsError(err); {
		case err == nil, code.Code == engine.CodeModelNotFound:
		case code.Code == engine.CodeCanceled && what == 6:
		default:
			t.Errorf("model %q: %v", name, err)
		}
	}
}
