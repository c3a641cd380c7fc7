package decode

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// sums is a backend whose vector of a sequence is the sum of its tokens and
// how many they are.
type sums struct {
	read        map[int32][]float32
	batches     []int // their sizes
	wanted      int   // entries that count
	during      func()
	result      Outcome
	interrupted bool
	freed       bool
}

func (s *sums) Decode(batch []Entry) Outcome {
	s.batches = append(s.batches, len(batch))
	if s.during != nil {
		s.during()
	}
	for _, e := range batch {
		v := s.read[e.Sequence]
		if v == nil {
			v = []float32{0, 0}
		}
		if int32(v[1]) != e.Position {
			return Failed // a sequence with a gap
		}
		s.read[e.Sequence] = []float32{v[0] + float32(e.Token), v[1] + 1}
		if e.Logits {
			s.wanted++
		}
	}
	return s.result
}

func (s *sums) Vector(sequence, _ int) ([]float32, bool) {
	v, ok := s.read[int32(sequence)]
	return v, ok
}

func (s *sums) Clear()     { s.read = map[int32][]float32{} }
func (s *sums) Interrupt() { s.interrupted = true }
func (s *sums) Resume()    { s.interrupted = false }
func (s *sums) Free()      { s.freed = true }

func testEmbedder(shape EmbeddingLimits) (*embedder, *sums) {
	s := &sums{read: map[int32][]float32{}}
	return newEmbedder(shape, func() (VectorBackend, error) { return s, nil }), s
}

// lengths makes inputs of so many tokens; each token of input i is i+1.
func lengths(n ...int) [][]int32 {
	var inputs [][]int32
	for i, n := range n {
		inputs = append(inputs, slices.Repeat([]int32{int32(i + 1)}, n))
	}
	return inputs
}

func TestEmbedder(t *testing.T) {
	whole := EmbeddingLimits{WholeInput: true, Rows: 20, Fill: 8, Sequences: 3}
	pieces := EmbeddingLimits{Rows: 4, Fill: 8, Sequences: 3}
	tests := []struct {
		name    string
		shape   EmbeddingLimits
		inputs  [][]int32
		batches []int
		wanted  int
	}{
		{"nothing", whole, nil, nil, 0},
		{"one", whole, lengths(3), []int{3}, 3},
		{"together", whole, lengths(3, 4), []int{7}, 7},
		{"as many as fit", whole, lengths(3, 5, 4), []int{8, 4}, 12},
		{"a full batch", whole, lengths(4, 4), []int{8}, 8},
		{"longer than a batch of several", whole, lengths(1, 20, 2, 3), []int{1, 20, 5}, 26},
		{"too many sequences", whole, lengths(1, 1, 1, 1), []int{3, 1}, 4},
		{"in pieces", pieces, lengths(9), []int{4, 4, 1}, 1},
		{"in pieces, together", pieces, lengths(3, 5), []int{4, 4}, 2},
		{"an end at the end of a piece", pieces, lengths(4, 4), []int{4, 4}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, s := testEmbedder(tt.shape)
			vectors, err := e.embed(t.Context(), tt.inputs)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range vectors {
				n := len(tt.inputs[i])
				if diff := cmp.Diff([]float32{float32((i + 1) * n), float32(n)}, v); diff != "" {
					t.Errorf("input %d (-want +got):\n%s", i, diff)
				}
			}
			if diff := cmp.Diff(tt.batches, s.batches); diff != "" {
				t.Errorf("batches (-want +got):\n%s", diff)
			}
			if s.wanted != tt.wanted {
				t.Errorf("%d entries count, want %d", s.wanted, tt.wanted)
			}
			if len(s.read) != 0 {
				t.Error("a sequence is left")
			}
		})
	}
}

func TestEmbedderStops(t *testing.T) {
	tests := []struct {
		name string
		stop func(cancel func(), e *embedder, s *sums)
		want engine.Code
	}{
		{"with the request", func(cancel func(), _ *embedder, _ *sums) { cancel() }, engine.CodeCanceled},
		{"with the model", func(_ func(), e *embedder, _ *sums) { e.close() }, engine.CodeOverloaded},
		{"where llama.cpp fails", func(_ func(), _ *embedder, s *sums) { s.result = Failed }, engine.CodeInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, s := testEmbedder(EmbeddingLimits{WholeInput: true, Rows: 4, Fill: 4, Sequences: 1})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.during = func() { tt.stop(cancel, e, s) }
			_, err := e.embed(ctx, lengths(1, 1, 1))
			if err == nil || err.Code != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if len(s.batches) != 1 || s.interrupted || len(s.read) != 0 {
				t.Errorf("%d batches, interrupted %t, %d sequences left", len(s.batches), s.interrupted, len(s.read))
			}
			e.free()
			if !s.freed {
				t.Error("the backend is not freed")
			}
			if _, err := e.embed(t.Context(), lengths(1)); err == nil || err.Code != engine.CodeOverloaded {
				t.Errorf("after free: %v", err)
			}
		})
	}
}

// TestEmbedderSharedByRequests: each gets its own vectors, batch by batch.
func TestEmbedderSharedByRequests(t *testing.T) {
	e, _ := testEmbedder(EmbeddingLimits{Rows: 3, Fill: 4, Sequences: 2})
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			inputs := lengths(1, 7, 2, 3, 1, 4)
			vectors, err := e.embed(t.Context(), inputs)
			if err != nil {
				t.Error(err)
				return
			}
			for i, v := range vectors {
				n := len(inputs[i])
				if !slices.Equal(v, []float32{float32((i + 1) * n), float32(n)}) {
					t.Errorf("input %d: %v", i, v)
				}
			}
		})
	}
	running.Wait()
}

func TestEmbedderWithoutBackend(t *testing.T) {
	broken := true
	e := newEmbedder(EmbeddingLimits{Rows: 4, Fill: 4, Sequences: 1}, func() (VectorBackend, error) {
		if broken {
			return nil, errors.New("no memory")
		}
		return &sums{read: map[int32][]float32{}}, nil
	})
	if _, err := e.embed(t.Context(), lengths(1)); err == nil || err.Code != engine.CodeInternal {
		t.Errorf("got %v, want %s", err, engine.CodeInternal)
	}
	broken = false
	if _, err := e.embed(t.Context(), lengths(1)); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

func TestEnding(t *testing.T) {
	tests := []struct {
		name               string
		whole, plain, want []int32
	}{
		{"both ends", []int32{101, 7, 102}, []int32{7}, []int32{102}},
		{"the front alone", []int32{1, 7}, []int32{7}, []int32{}},
		{"nothing", []int32{7}, []int32{7}, []int32{}},
		{"the text twice", []int32{7, 7, 2}, []int32{7}, []int32{2}},
		{"another text", []int32{1, 8, 2}, []int32{7}, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Suffix(tt.whole, tt.plain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
