package decode

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// TestPixelDecodingIsConcurrent: while pixels are decoded, other sequences run
// and an idle loop sleeps.
func TestPixelDecodingIsConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := imageModel(t, c, 2, 2048, Chunk{Cells: 9})
		gate := make(chan struct{})
		m.imageEncoder.(*fakeEncoder).gate = gate
		var seen result
		done := make(chan struct{})
		go func() {
			seen = collect(t.Context(), m, show(t, m, 10, 1))
			close(done)
		}()
		synctest.Wait() // hangs if the loop spins
		if len(c.images.encoded) > 0 {
			t.Error("the picture was encoded before it was decoded")
		}
		collect(t.Context(), m, chat.Job{Prompt: testPrompt(7, 39, 20), MaxTokens: 5}).check(t, "another", counted(20, 5), chat.EndLength)
		synctest.Wait()
		close(gate)
		<-done
		seen.check(t, "the one with the picture", counted(10, 5), chat.EndLength)
		m.Close()
	})
}

// TestCancelDuringPixelDecoding cancels a request, or closes the model, while
// pixels are decoded.
func TestCancelDuringPixelDecoding(t *testing.T) {
	for _, end := range []string{"the client leaves", "the model is closed"} {
		t.Run(end, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := imageModel(t, newCounter(t, 4096), 2, 2048, Chunk{Cells: 9})
				m.imageEncoder.(*fakeEncoder).gate = make(chan struct{})
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

// TestBrokenPixels: the error of decoding reaches the sequence.
func TestBrokenPixels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := imageModel(t, newCounter(t, 4096), 2, 2048, Chunk{Cells: 9})
		chunks, err := findImageChunks(t.Context(), show(t, m, 10, 1), m.imageEncoder)
		if err != nil {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		p := chunks[0].pixels
		p.decode = func(context.Context) ([]byte, error) { return nil, broken }
		s := newSequence(t.Context(), m.vocab, show(t, m, 10, 1))
		if m.loop.pixelsReady(s, p) {
			t.Error("ready before it was decoded")
		}
		synctest.Wait()
		if !m.loop.pixelsReady(s, p) || p.err != broken {
			t.Errorf("the pixels are %+v", p)
		}
		m.Close()
	})
}
