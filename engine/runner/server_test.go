package runner

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// steps is an engine's progress, turned by hand.
type steps struct{ atomic.Uint64 }

func (s *steps) Steps() uint64 { return s.Load() }

func TestBeatsWhileThereIsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wire bytes.Buffer
		var progress steps
		stop := beat(&sender{encoder: gob.NewEncoder(&wire)}, &progress)
		time.Sleep(beatEvery / 2) // between the looks
		for _, works := range []bool{true, false, false, true, true} {
			if works {
				progress.Add(3)
			}
			time.Sleep(beatEvery)
		}
		stop()
		progress.Add(1)
		time.Sleep(10 * beatEvery)

		beats := 0
		decoder := gob.NewDecoder(&wire)
		for {
			var r reply
			err := decoder.Decode(&r)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || !r.Beat || r.Last {
				t.Fatalf("reply %+v, error %v", r, err)
			}
			beats++
		}
		if beats != 3 {
			t.Errorf("%d beats, want 3", beats)
		}
	})
}
