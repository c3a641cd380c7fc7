package decode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/picture"
	"github.com/google/go-cmp/cmp"
)

// imageLog records what a counter encodes and decodes of images. The embedding
// of a cell is its index, which shows cells decoded at a wrong position.
type imageLog struct {
	encoded []byte // first byte of the key of each picture
	batches []int  // cells of each
	broken  byte   // this picture cannot be encoded
	during  func() // called in each Encode
}

func (c *counter) Encode(v ImageInput) ([]float32, Outcome, error) {
	if c.images.during != nil {
		c.images.during()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		return nil, Interrupted, nil
	}
	if v.Picture.Key[0] == c.images.broken {
		return nil, Failed, errors.New("broken")
	}
	c.images.encoded = append(c.images.encoded, v.Picture.Key[0])
	var embedding []float32
	for cell := range v.Cells {
		embedding = append(embedding, float32(cell))
	}
	return embedding, Computed, nil
}

func (c *counter) DecodeImage(g ImageBatch) Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	if used := c.used(); used+g.Cells > c.capacity {
		c.t.Errorf("%d cells in use, %d more wanted, of %d", used, g.Cells, c.capacity)
		return CacheFull
	}
	if g.First == 0 && g.Position != int(c.next[g.Sequence]) {
		c.t.Errorf("an image at position %d of sequence %d, which goes on at %d", g.Position, g.Sequence, c.next[g.Sequence])
	}
	for i, n := range g.Embeddings {
		if int(n) != g.First+i {
			c.t.Errorf("cell %d has the embedding of cell %d", g.First+i, int(n))
		}
		position := g.Position + g.First + i
		if g.Columns > 0 {
			position = g.Position
		}
		c.add(g.Sequence, -1, int32(position))
	}
	if done := g.First + g.Cells; g.Columns > 0 {
		c.next[g.Sequence] = int32(g.Position + max(g.Columns, done/g.Columns))
	}
	c.images.batches = append(c.images.batches, g.Cells)
	c.read += g.Cells
	c.last = make([]Entry, g.Cells)
	c.last[g.Cells-1] = Entry{Token: 41, Logits: g.Logits}
	return Computed
}

// imageModel lays each picture out as a special token, the given chunk and a
// special token.
func imageModel(t *testing.T, c *counter, parallel, context int, cells Chunk) *Model {
	c.images = &imageLog{}
	m := countingModel(t, c, parallel, context)
	m.imageEncoder = &fakeEncoder{cells: cells}
	return m
}

// fakeEncoder lays all pictures out in the same way.
type fakeEncoder struct {
	cells Chunk
	gate  chan struct{} // nil, or pixels are decoded when it is closed
}

func (l *fakeEncoder) Layout(context.Context, *picture.Picture) (Layout, error) {
	return Layout{{Tokens: []int32{901}}, l.cells, {Tokens: []int32{902}}}, nil
}

func (l *fakeEncoder) DecodePixels(ctx context.Context, _ *picture.Picture) ([]byte, error) {
	if l.gate != nil {
		select {
		case <-l.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return []byte{1}, nil
}

func testImage(key byte) *prompt.Image {
	return &prompt.Image{Picture: &picture.Picture{Key: [32]byte{key}}}
}

// show is a job whose prompt alternates between texts of 40 tokens and images,
// given by the first bytes of their keys.
func show(t *testing.T, m *Model, last int32, keys ...byte) chat.Job {
	t.Helper()
	var job chat.Job
	for i, key := range keys {
		image := testImage(key)
		l, err := m.imageEncoder.Layout(t.Context(), image.Picture)
		if err != nil {
			t.Fatal(err)
		}
		job.Prompt = slices.Concat(job.Prompt, testPrompt(i, 39, 3), l.tokens(image.Picture))
		job.Images = append(job.Images, image)
	}
	job.Prompt = append(job.Prompt, testPrompt(50, 39, last)...)
	job.MaxTokens = 5
	return job
}

func TestImages(t *testing.T) { eachWay(t, testImages) }

func testImages(t *testing.T, independent bool) {
	for _, tt := range []struct {
		name  string
		cells Chunk
		keys  []byte
		want  []int // cells of each batch
	}{
		{"one", Chunk{Cells: 9}, []byte{1}, []int{9}},
		{"one cell", Chunk{Cells: 1}, []byte{1}, []int{1}},
		{"two", Chunk{Cells: 9}, []byte{1, 2}, []int{9, 9}},
		{"the same twice", Chunk{Cells: 9}, []byte{1, 1}, []int{9, 9}},
		{"in several batches", Chunk{Cells: 1100}, []byte{1}, []int{128, 128, 128, 128, 128, 128, 128, 128, 76}},
		{"not causal", Chunk{Cells: 512, NonCausal: true}, []byte{1, 2}, []int{512, 512}},
		{"M-RoPE", Chunk{Cells: 12, Columns: 4}, []byte{1, 2}, []int{12, 12}},
		{"M-RoPE, high, in several batches", Chunk{Cells: 1000, Columns: 10}, []byte{1}, []int{128, 128, 128, 128, 128, 128, 128, 104}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, 4096)
				c.independent = independent
				m := imageModel(t, c, 2, 2048, tt.cells)
				job := show(t, m, 10, tt.keys...)
				collect(t.Context(), m, job).check(t, "first", counted(10, 5), chat.EndLength)
				if diff := cmp.Diff(tt.want, c.images.batches); diff != "" {
					t.Error(diff)
				}
				if !slices.Equal(c.images.encoded, tt.keys) {
					t.Errorf("encoded the pictures %v, want %v", c.images.encoded, tt.keys)
				}
				if c.read != len(job.Prompt)+4 {
					t.Errorf("read %d cells for a prompt of %d", c.read, len(job.Prompt))
				}

				// The next turn shares all of it.
				next := job
				next.Prompt = slices.Concat(job.Prompt, []int32{11, 12, 13, 14, 77})
				r := collect(t.Context(), m, next)
				r.check(t, "next turn", counted(77, 5), chat.EndLength)
				if want := len(job.Prompt) + 4; r.end.Cached != want {
					t.Errorf("next turn: %d cached, want %d", r.end.Cached, want)
				}
				if m.Stats().ImagesEncoded != len(tt.keys) {
					t.Errorf("encoded %d pictures, want %d", m.Stats().ImagesEncoded, len(tt.keys))
				}
				m.Close()
			})
		})
	}
}

// TestPromptEndsWithImage: the next token is sampled from the last cell's logits.
func TestPromptEndsWithImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := imageModel(t, c, 2, 2048, Chunk{Cells: 9})
		job := show(t, m, 10, 1)
		job.Prompt = job.Prompt[:40+1+9]
		collect(t.Context(), m, job).check(t, "end", counted(41, 5), chat.EndLength)
		again := collect(t.Context(), m, job)
		again.check(t, "again", counted(41, 5), chat.EndLength)
		if want := 40 + 1 + 8; again.end.Cached != want {
			t.Errorf("%d cached, want %d: all but the last cell", again.end.Cached, want)
		}
		m.Close()
	})
}

// TestWholeImagesAreSharedWhole: to get the last cell's logits, all cells of an
// indivisible image are decoded again.
func TestWholeImagesAreSharedWhole(t *testing.T) { eachWay(t, testWholeImagesAreSharedWhole) }

func testWholeImagesAreSharedWhole(t *testing.T, independent bool) {
	for _, cells := range []Chunk{{Cells: 9, NonCausal: true}, {Cells: 9, Columns: 3}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, 4096)
			c.independent = independent
			m := imageModel(t, c, 2, 2048, cells)
			job := show(t, m, 10, 1)
			job.Prompt = job.Prompt[:40+1+9]
			collect(t.Context(), m, job)
			again := collect(t.Context(), m, job)
			again.check(t, "again", counted(41, 5), chat.EndLength)
			if want := 40 + 1; again.end.Cached != want {
				t.Errorf("%+v: %d cached, want %d", cells, again.end.Cached, want)
			}
			m.Close()
		})
	}
}

func TestOtherImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := imageModel(t, c, 2, 2048, Chunk{Cells: 9})
		collect(t.Context(), m, show(t, m, 10, 1, 2))
		r := collect(t.Context(), m, show(t, m, 10, 1, 3))
		r.check(t, "another image", counted(10, 5), chat.EndLength)
		if want := 40 + 11 + 40 + 1; r.end.Cached != want { // and the token before the image
			t.Errorf("%d cached, want %d", r.end.Cached, want)
		}
		if want := []byte{1, 2, 3}; !slices.Equal(c.images.encoded, want) {
			t.Errorf("encoded the pictures %v, want %v", c.images.encoded, want)
		}
		m.Close()
	})
}

// TestImageOfManyRequests: an image that several requests send is encoded once,
// while others generate.
func TestImageOfManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := imageModel(t, c, 8, 2048, Chunk{Cells: 9})
		var jobs []chat.Job
		for range 4 {
			jobs = append(jobs, show(t, m, 10, 1))
		}
		jobs = append(jobs, chat.Job{Prompt: testPrompt(60, 200, 10), MaxTokens: 5}, show(t, m, 10, 2))
		for i, r := range together(m, jobs...) {
			r.check(t, fmt.Sprintf("job %d", i), counted(10, 5), chat.EndLength)
		}
		slices.Sort(c.images.encoded)
		if want := []byte{1, 2}; !slices.Equal(c.images.encoded, want) {
			t.Errorf("encoded the pictures %v, want %v", c.images.encoded, want)
		}
		m.Close()
	})
}

// TestImageFails ends one request and no other.
func TestImageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := imageModel(t, c, 8, 2048, Chunk{Cells: 9})
		c.images.broken = 7
		results := together(m, show(t, m, 10, 7), show(t, m, 10, 1))
		if e := engine.AsError(results[0].err); e == nil || e.Code != engine.CodeInternal || e.Err == nil {
			t.Errorf("error %v, want an internal one with its reason", results[0].err)
		}
		results[1].check(t, "the other", counted(10, 5), chat.EndLength)
		m.Close()
	})
}

// TestCancelDuringImage cancels during Encode, which is interrupted; another
// request is not affected.
func TestCancelDuringImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := imageModel(t, c, 8, 2048, Chunk{Cells: 9})
		ctx, cancel := context.WithCancel(t.Context())
		c.images.during = func() {
			c.images.during = nil
			cancel()
			<-c.asked // without an interrupt the test hangs
		}
		r := collect(ctx, m, show(t, m, 10, 1))
		if e := engine.AsError(r.err); e == nil || e.Code != engine.CodeCanceled {
			t.Errorf("error %v, want canceled", r.err)
		}
		collect(t.Context(), m, show(t, m, 10, 2)).check(t, "the next", counted(10, 5), chat.EndLength)
		if want := []byte{2}; !slices.Equal(c.images.encoded, want) {
			t.Errorf("encoded the pictures %v, want %v", c.images.encoded, want)
		}
		m.Close()
	})
}

// TestPreemptedImage has too few cells for all requests: preempted ones decode
// their images again.
func TestPreemptedImage(t *testing.T) { eachWay(t, testPreemptedImage) }

func testPreemptedImage(t *testing.T, independent bool) {
	for _, cells := range []Chunk{{Cells: 150}, {Cells: 150, NonCausal: true}, {Cells: 150, Columns: 10}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, 700)
			c.independent = independent
			m := imageModel(t, c, 3, 600, cells)
			var jobs []chat.Job
			for i := range byte(3) {
				job := show(t, m, 10, 1+i)
				job.Prompt = append(testPrompt(70+int(i), 1, 5), job.Prompt...) // nothing is shared
				job.MaxTokens = 300
				jobs = append(jobs, job)
			}
			for i, r := range together(m, jobs...) {
				r.check(t, fmt.Sprintf("%+v, job %d", cells, i), counted(10, 300), chat.EndLength)
			}
			if m.Stats().Preempted == 0 {
				t.Error("nobody was preempted: the test has too many cells")
			}
			m.Close()
		})
	}
}

// TestImageTokens: negative, and different for each picture, chunk and cell.
func TestImageTokens(t *testing.T) {
	seen := map[int32]bool{}
	for key := range byte(3) {
		p := &picture.Picture{Key: [32]byte{key}}
		for _, token := range (Layout{{Cells: 300}, {Tokens: []int32{5}}, {Cells: 300}}).tokens(p) {
			if token == 5 {
				continue
			}
			if token >= 0 || seen[token] {
				t.Fatalf("token %d is positive or there twice", token)
			}
			seen[token] = true
		}
	}
	if len(seen) != 3*600 {
		t.Errorf("%d tokens, want %d", len(seen), 3*600)
	}
}
