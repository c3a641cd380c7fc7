package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/diglot/diglot/tools/bench/ask"
	"github.com/diglot/diglot/tools/bench/report"
)

// coldStart asks from the moment of the start until there is an answer. The file is in the
// system's cache: a round before had it there.
func coldStart(ctx context.Context, f *found, m model, s report.Settings, key string) (values, error) {
	if err := f.prepare(ctx, m, s); err != nil {
		return nil, err
	}
	prompt, err := m.writer.Text(key, 16)
	if err != nil {
		return nil, err
	}
	t, err := f.start(ctx, m, s)
	if err != nil {
		return nil, err
	}
	defer t.stop()
	for {
		sent := time.Now()
		r, err := completion(ctx, t, m, prompt, 1, key)
		if err == nil {
			return values{"time": milliseconds(sent.Add(r.First).Sub(t.begun))}, nil
		}
		if !loading(err) {
			return nil, t.process.Explain(err)
		}
		select {
		case <-t.process.Ended():
			return nil, t.process.Explain(err)
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// loading reports whether an error is that of a server which does not answer yet: no
// connection, or the reply of llama-server.
func loading(err error) bool {
	if refused, ok := errors.AsType[*ask.StatusError](err); ok {
		return refused.Status == http.StatusServiceUnavailable
	}
	_, ok := errors.AsType[*url.Error](err)
	return ok
}

// prepare has a server that keeps models of its own take over this one.
func (f *found) prepare(ctx context.Context, m model, s report.Settings) error {
	if f.add == nil || f.added[m.name] {
		return nil
	}
	t, err := f.run(ctx, m, s)
	if err != nil {
		return err
	}
	t.stop()
	return nil
}

// memory looks at a server after its first reply, and then while it works.
func memory(ctx context.Context, f *found, m model, s report.Settings, key string) (values, error) {
	t, err := f.run(ctx, m, s)
	if err != nil {
		return nil, err
	}
	defer t.stop()
	if _, err := firstToken(16)(ctx, t, m, key); err != nil {
		return nil, t.process.Explain(err)
	}
	idle, err := t.memory()
	if err != nil {
		return nil, err
	}
	watch := t.watch()
	_, err = firstToken(4096)(ctx, t, m, key)
	if err == nil {
		_, err = streams(8, 64, s.Seed)(ctx, t, m, key)
	}
	peak, unknown := watch()
	if err = errors.Join(err, unknown); err != nil {
		return nil, t.process.Explain(fmt.Errorf("memory: %w", err))
	}
	return values{"idle": idle, "peak": max(idle, peak)}, nil
}

// watch looks at the memory of a server again and again, until its result is called for
// the most that was seen.
func (t *target) watch() func() (float64, error) {
	done := make(chan struct{})
	var most float64
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			now, err := t.memory()
			if err != nil {
				failed = err
				return
			}
			most = max(most, now)
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() (float64, error) {
		close(done)
		wg.Wait()
		return most, failed
	}
}
