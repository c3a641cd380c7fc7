package runner

import (
	"hash/maphash"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// random is a request made from a seed.
func random(seed uint64) *engine.Request {
	var req engine.Request
	fill(rand.New(rand.NewPCG(seed, 2)), reflect.ValueOf(&req).Elem(), 0)
	return &req
}

// TestKeys: keys are the same for equal requests, and for no others.
func TestKeys(t *testing.T) {
	hashing := maphash.MakeSeed()
	byKey := map[requestKey]*engine.Request{}
	for seed := range uint64(300) {
		req := random(seed)
		key := keyOf(hashing, req)
		if keyOf(hashing, random(seed)) != key {
			t.Errorf("seed %d: two keys for equal requests", seed)
		}
		if other := byKey[key]; other != nil && !cmp.Equal(req, other) {
			t.Errorf("seed %d: one key for different requests:\n%s", seed, cmp.Diff(req, other))
		}
		byKey[key] = req
	}
}

func TestKeysOfAlmostTheSame(t *testing.T) {
	parts := func(parts ...engine.Part) any {
		return &engine.Request{Messages: []engine.Message{{Parts: parts}}}
	}
	long := strings.Repeat("a", 1<<20)
	seed := maphash.MakeSeed()
	for _, tt := range []struct {
		name string
		a, b any
	}{
		{"types of parts", parts(engine.Text{Text: "a"}), parts(engine.ReasoningText{Text: "a"})},
		{"ends of texts", parts(engine.Text{Text: "ab"}, engine.Text{Text: "c"}), parts(engine.Text{Text: "a"}, engine.Text{Text: "bc"})},
		{"the middle of a long text", parts(engine.Text{Text: long + "a" + long}), parts(engine.Text{Text: long + "b" + long})},
		{"a picture", parts(engine.Image{Data: []byte{1, 2}}), parts(engine.Image{Data: []byte{1, 3}})},
		{"zero and none", &engine.Request{MaxTokens: new(int)}, &engine.Request{}},
		{"a map", biased(map[int]float64{1: 2, 3: 4}), biased(map[int]float64{1: 4, 3: 2})},
		{"inputs", &engine.EmbeddingRequest{Inputs: []engine.EmbeddingInput{{Text: "a"}}}, &engine.EmbeddingRequest{Inputs: []engine.EmbeddingInput{{Text: "b"}}}},
		{"pictures to draw", &engine.ImageRequest{Choices: 1}, &engine.ImageRequest{Choices: 2}},
	} {
		if keyOf(seed, tt.a) == keyOf(seed, tt.b) {
			t.Errorf("%s: one key for both", tt.name)
		}
	}
}

func biased(tokens map[int]float64) *engine.Request {
	return &engine.Request{Sampling: engine.Sampling{LogitBias: tokens}}
}

// TestKeyTakesNoMemory: hashing allocates no copy of the request, which may be as large
// as a body.
func TestKeyTakesNoMemory(t *testing.T) {
	req := &engine.Request{Messages: []engine.Message{{Parts: []engine.Part{
		engine.Text{Text: strings.Repeat("<", 16<<20)}, engine.Image{Data: make([]byte, 16<<20)},
	}}}}
	seed := maphash.MakeSeed()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	keyOf(seed, req)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("the key of a request of 32 MiB took %d bytes", took)
	}
}

func BenchmarkKey(b *testing.B) {
	req := &engine.Request{Messages: []engine.Message{{Parts: []engine.Part{engine.Text{Text: strings.Repeat("a", 64<<20)}}}}}
	seed := maphash.MakeSeed()
	for b.Loop() {
		keyOf(seed, req)
	}
}

func BenchmarkKeyOfMany(b *testing.B) {
	req := &engine.Request{Messages: make([]engine.Message, 700_000)}
	for i := range req.Messages {
		req.Messages[i].Parts = []engine.Part{engine.Text{Text: "a"}}
	}
	seed := maphash.MakeSeed()
	for b.Loop() {
		keyOf(seed, req)
	}
}
