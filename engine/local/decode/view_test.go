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
	"github.com/diglot/diglot/engine/picture"
	"github.com/google/go-cmp/cmp"
)

// sight is what a counter needs to see. Its embeddings are one number for each
// cell: what the cell's token is, so that a cell that is read in a wrong place
// is found.
type sight struct {
	encoded []byte // first byte of the key of each picture
	glances []int  // cells of each
	broken  byte   // this picture cannot be computed
	during  func() // called in each encode
}

func (c *counter) Encode(v ImagePart) ([]float32, Outcome, error) {
	if c.eye.during != nil {
		c.eye.during()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.interrupted {
		return nil, Interrupted, nil
	}
	if v.Picture.Key[0] == c.eye.broken {
		return nil, Failed, errors.New("broken")
	}
	c.eye.encoded = append(c.eye.encoded, v.Picture.Key[0])
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
	for i, n := range g.Embedding {
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
	c.eye.glances = append(c.eye.glances, g.Cells)
	c.read += g.Cells
	c.last = make([]Entry, g.Cells)
	c.last[g.Cells-1] = Entry{Token: 41, Logits: g.Logits}
	return Computed
}

// seeingModel sees each picture as a mark, cells like the given one, and a mark.
func seeingModel(t *testing.T, c *counter, parallel, context int, cells Section) *Model {
	c.eye = &sight{}
	m := countingModel(t, c, parallel, context)
	m.eye = &lens{cells: cells}
	return m
}

// lens is an eye to which all pictures are alike.
type lens struct {
	cells Section
	held  chan struct{} // nil: pictures are unpacked at once; or when it is closed
}

func (l *lens) Layout(context.Context, *picture.Picture) (Layout, error) {
	return Layout{{Tokens: []int32{901}}, l.cells, {Tokens: []int32{902}}}, nil
}

func (l *lens) Unpack(ctx context.Context, _ *picture.Picture) ([]byte, error) {
	if l.held != nil {
		select {
		case <-l.held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return []byte{1}, nil
}

func testImage(key byte) *chat.Image {
	return &chat.Image{Picture: &picture.Picture{Key: [32]byte{key}}}
}

// show is a job whose prompt is text and images, by the first bytes of their
// keys, in turns: each text is 40 tokens.
func show(t *testing.T, m *Model, last int32, keys ...byte) chat.Job {
	t.Helper()
	var job chat.Job
	for i, key := range keys {
		image := testImage(key)
		l, err := m.eye.Layout(t.Context(), image.Picture)
		if err != nil {
			t.Fatal(err)
		}
		job.Prompt = slices.Concat(job.Prompt, prompt(i, 39, 3), l.tokens(image.Picture))
		job.Images = append(job.Images, image)
	}
	job.Prompt = append(job.Prompt, prompt(50, 39, last)...)
	job.MaxTokens = 5
	return job
}

func TestImages(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cells Section
		keys  []byte
		want  []int // cells that are read at a time
	}{
		{"one", Section{Cells: 9}, []byte{1}, []int{9}},
		{"one cell", Section{Cells: 1}, []byte{1}, []int{1}},
		{"two", Section{Cells: 9}, []byte{1, 2}, []int{9, 9}},
		{"the same twice", Section{Cells: 9}, []byte{1, 1}, []int{9, 9}},
		{"in parts", Section{Cells: 1100}, []byte{1}, []int{128, 128, 128, 128, 128, 128, 128, 128, 76}},
		{"whole", Section{Cells: 512, Whole: true}, []byte{1, 2}, []int{512, 512}},
		{"in two dimensions", Section{Cells: 12, Columns: 4}, []byte{1, 2}, []int{12, 12}},
		{"high, in two dimensions and parts", Section{Cells: 1000, Columns: 10}, []byte{1}, []int{128, 128, 128, 128, 128, 128, 128, 104}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, 4096)
				m := seeingModel(t, c, 2, 2048, tt.cells)
				job := show(t, m, 10, tt.keys...)
				collect(t.Context(), m, job).check(t, "first", counted(10, 5), chat.EndLength)
				if diff := cmp.Diff(tt.want, c.eye.glances); diff != "" {
					t.Error(diff)
				}
				if !slices.Equal(c.eye.encoded, tt.keys) {
					t.Errorf("computed the pictures %v, want %v", c.eye.encoded, tt.keys)
				}
				if c.read != len(job.Prompt)+4 {
					t.Errorf("read %d cells for a prompt of %d", c.read, len(job.Prompt))
				}

				// The next turn takes all of it over.
				next := job
				next.Prompt = slices.Concat(job.Prompt, []int32{11, 12, 13, 14, 77})
				r := collect(t.Context(), m, next)
				r.check(t, "next turn", counted(77, 5), chat.EndLength)
				if want := len(job.Prompt) + 4; r.end.Cached != want {
					t.Errorf("next turn: %d cached, want %d", r.end.Cached, want)
				}
				if m.Stats().Encoded != len(tt.keys) {
					t.Errorf("computed %d pictures, want %d", m.Stats().Encoded, len(tt.keys))
				}
				m.Close()
			})
		})
	}
}

// TestPromptEndsWithImage: what is said next depends on the last cell.
func TestPromptEndsWithImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := seeingModel(t, c, 2, 2048, Section{Cells: 9})
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

// TestWholeImagesAreSharedWhole: the last cell must be read for what comes
// next, and with it all cells of its image.
func TestWholeImagesAreSharedWhole(t *testing.T) {
	for _, cells := range []Section{{Cells: 9, Whole: true}, {Cells: 9, Columns: 3}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, 4096)
			m := seeingModel(t, c, 2, 2048, cells)
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
		m := seeingModel(t, c, 2, 2048, Section{Cells: 9})
		collect(t.Context(), m, show(t, m, 10, 1, 2))
		r := collect(t.Context(), m, show(t, m, 10, 1, 3))
		r.check(t, "another image", counted(10, 5), chat.EndLength)
		if want := 40 + 11 + 40 + 1; r.end.Cached != want { // and the mark before the image
			t.Errorf("%d cached, want %d", r.end.Cached, want)
		}
		if want := []byte{1, 2, 3}; !slices.Equal(c.eye.encoded, want) {
			t.Errorf("computed the pictures %v, want %v", c.eye.encoded, want)
		}
		m.Close()
	})
}

// TestImageOfManyRequests: the choices of a request, and clients that send the
// same, have it computed once; text goes on beside it.
func TestImageOfManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := seeingModel(t, c, 8, 2048, Section{Cells: 9})
		var jobs []chat.Job
		for range 4 {
			jobs = append(jobs, show(t, m, 10, 1))
		}
		jobs = append(jobs, chat.Job{Prompt: prompt(60, 200, 10), MaxTokens: 5}, show(t, m, 10, 2))
		for i, r := range together(m, jobs...) {
			r.check(t, fmt.Sprintf("job %d", i), counted(10, 5), chat.EndLength)
		}
		slices.Sort(c.eye.encoded)
		if want := []byte{1, 2}; !slices.Equal(c.eye.encoded, want) {
			t.Errorf("computed the pictures %v, want %v", c.eye.encoded, want)
		}
		m.Close()
	})
}

// TestImageFails ends one request and no other.
func TestImageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := seeingModel(t, c, 8, 2048, Section{Cells: 9})
		c.eye.broken = 7
		results := together(m, show(t, m, 10, 7), show(t, m, 10, 1))
		if e := engine.AsError(results[0].err); e == nil || e.Code != engine.CodeInternal || e.Err == nil {
			t.Errorf("error %v, want an internal one with its reason", results[0].err)
		}
		results[1].check(t, "the other", counted(10, 5), chat.EndLength)
		m.Close()
	})
}

// TestCancelDuringImage leaves in the middle of the computing, which then
// stops; another request is not troubled.
func TestCancelDuringImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := seeingModel(t, c, 8, 2048, Section{Cells: 9})
		ctx, cancel := context.WithCancel(t.Context())
		c.eye.during = func() {
			c.eye.during = nil
			cancel()
			<-c.asked // else the test hangs: nobody interrupts
		}
		r := collect(ctx, m, show(t, m, 10, 1))
		if e := engine.AsError(r.err); e == nil || e.Code != engine.CodeCanceled {
			t.Errorf("error %v, want canceled", r.err)
		}
		collect(t.Context(), m, show(t, m, 10, 2)).check(t, "the next", counted(10, 5), chat.EndLength)
		if want := []byte{2}; !slices.Equal(c.eye.encoded, want) {
			t.Errorf("computed the pictures %v, want %v", c.eye.encoded, want)
		}
		m.Close()
	})
}

// TestPreemptedImage has no room for all requests: the youngest read their
// images again.
func TestPreemptedImage(t *testing.T) {
	for _, cells := range []Section{{Cells: 150}, {Cells: 150, Whole: true}, {Cells: 150, Columns: 10}} {
		synctest.Test(t, func(t *testing.T) {
			c := newCounter(t, 700)
			m := seeingModel(t, c, 3, 600, cells)
			var jobs []chat.Job
			for i := range byte(3) {
				job := show(t, m, 10, 1+i)
				job.Prompt = append(prompt(70+int(i), 1, 5), job.Prompt...) // nothing is shared
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

// TestImageTokens: numbers that no token has, and others for each picture,
// section and cell.
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
