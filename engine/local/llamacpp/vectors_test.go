//go:build llamacpp && cgo

package llamacpp

import (
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/enginetest"
)

// encoder is a model that is for embeddings alone: all-MiniLM-L6-v2, as 16-bit
// floats.
const encoder = "minilm"

// references are what the original weights give in 32-bit arithmetic: the
// mean over all tokens, [CLS] and [SEP] among them.
var references = []struct {
	text   string
	tokens int
	length float64   // of the vector
	first  []float32 // its first numbers, divided by length
}{
	{"The quick brown fox jumps over the lazy dog.", 12, 5.42388, []float32{0.043934, 0.058934, 0.048178, 0.077548, 0.026744, -0.03763, -0.002605, -0.059943}},
	{"hello", 3, 6.0268, []float32{-0.062772, 0.054959, 0.052165, 0.08579, -0.082749, -0.074573, 0.068555, 0.018396}},
	{"In 2024 the company's revenue grew 12.5% to $3,450,000.", 23, 3.48439, []float32{0.054492, -0.033307, -0.035561, -0.068064, -0.057708, -0.019894, -0.041765, 0.046969}},
	{"Café crème brûlée, naïve façade, Zürich and São Paulo.", 17, 4.5893, []float32{0.067784, 0.009092, 0.029308, -0.009713, 0.015881, -0.007738, -0.051492, -0.024432}},
	{"东京 is the capital of Japan; 北京 is the capital of China.", 18, 4.57588, []float32{0.087332, 0.039371, 0.059623, 0.007053, -0.00858, -0.032161, 0.100663, -0.036139}},
	{"def add(a, b):\n    return a + b  # sum of two numbers", 19, 4.66607, []float32{-0.038868, 0.004095, -0.04913, -0.018387, -0.080292, 0.019192, 0.057134, -0.035221}},
	{"Electroencephalographically speaking, antidisestablishmentarianism is unmistakably supercalifragilistic 🙂.", 31, 3.34793, []float32{0.079748, -0.006722, 0.047545, 0.022426, -0.055499, -0.009676, 0.086542, 0.002656}},
	{strings.Repeat("The harbour was quiet before dawn, and the boats lay still against the stones. ", 12) + "Then the wind rose.",
		199, 2.77474, []float32{0.043468, 0.073605, 0.08887, 0.094344, -0.016326, 0.069437, 0.006401, -0.075374}},
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestReferenceVectors(t *testing.T) {
	m := openModel(t, Options{Path: modelFile(t, encoder), Threads: 1})
	var inputs [][]int32
	for _, r := range references {
		tokens, err := m.TokenizeInput(t.Context(), r.text)
		if err != nil {
			t.Fatal(err)
		}
		if len(tokens) != r.tokens {
			t.Errorf("%.20q: %d tokens, want %d", r.text, len(tokens), r.tokens)
		}
		inputs = append(inputs, tokens)
	}
	vectors, err := m.Embed(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range references {
		v := vectors[i]
		if len(v) != 384 {
			t.Fatalf("%d dimensions, want 384", len(v))
		}
		if length := math.Sqrt(dot(v, v)); math.Abs(length/r.length-1) > 0.002 {
			t.Errorf("%.20q: length %v, want %v", r.text, length, r.length)
		}
		if c := cosine(v[:len(r.first)], r.first); c < 0.999 {
			t.Errorf("%.20q: the cosine with the reference is %v", r.text, c)
		}
		for k, want := range r.first {
			if got := float64(v[k]) / r.length; math.Abs(got-float64(want)) > 0.001 {
				t.Errorf("%.20q: number %d is %v, want %v", r.text, k, got, want)
			}
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// embeddingEngine is an engine over a model file.
func embeddingEngine(t *testing.T, options Options) engine.Engine {
	t.Helper()
	e, err := chat.New(openModel(t, options), slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEmbeddingSuite(t *testing.T) {
	for _, name := range []string{encoder, smallest} {
		t.Run(name, func(t *testing.T) {
			path := modelFile(t, name)
			enginetest.RunEmbeddings(t, func(t *testing.T) engine.Engine { return embeddingEngine(t, Options{Path: path, Threads: 1}) })
		})
	}
}

func TestEncoderInfo(t *testing.T) {
	m := openModel(t, Options{Path: modelFile(t, encoder), Threads: 1})
	want := chat.Vectors{Size: 384, Input: 512, Vocabulary: 30522, Only: true}
	if diff := cmp.Diff(want, m.Info().Vectors); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, err := range m.Decode(t.Context(), greedy([]int32{101}, 1)) {
		if coded := engine.AsError(err); coded == nil || coded.Code != engine.CodeUnsupported {
			t.Errorf("Decode: %v", err)
		}
	}
	// A spelling of a control token is no control token.
	tokens, err := m.TokenizeInput(t.Context(), "a[SEP]b")
	if err != nil || len(tokens) < 6 || slices.Contains(tokens[1:len(tokens)-1], 102) {
		t.Errorf("tokens %v, %v", tokens, err)
	}
	full := make([]int32, 512)
	if _, err := m.Embed(t.Context(), [][]int32{full, full[:1], full}); err != nil {
		t.Errorf("inputs of full length: %v", err)
	}
}

// TestEmbedBesideDecode: a model that writes makes vectors in between, and
// neither changes the other. Closing it ends both.
func TestEmbedBesideDecode(t *testing.T) {
	m := openModel(t, Options{Context: 512, Threads: 1})
	job := measured(greedy(tokenize(t, m, ask("Name three colours.")), 24))
	text := decodeAll(t, m, []chat.Job{job})[0]
	inputs := [][]int32{tokenize(t, m, "The sea is calm."), tokenize(t, m, strings.Repeat("A longer text. ", 90))}
	vectors, err := m.Embed(t.Context(), inputs)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for range 3 {
			again, err := m.Embed(t.Context(), inputs)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range again {
				if c := cosine(again[i], vectors[i]); c < 0.9999 {
					t.Errorf("input %d: the cosine with its vector before is %v", i, c)
				}
			}
		}
	})
	same(t, "beside embeddings", text, decodeAll(t, m, []chat.Job{job})[0])
	running.Wait()

	started := make(chan struct{})
	ended := make(chan error)
	go func() {
		close(started)
		_, err := m.Embed(t.Context(), slices.Repeat(inputs, 50))
		ended <- err
	}()
	<-started
	m.Close()
	if err := <-ended; engine.AsError(err).Code != engine.CodeOverloaded {
		t.Errorf("Embed of a closed model: %v", err)
	}
}

// TestSimilarTexts: the vectors mean something, those of a model that writes
// text as well.
func TestSimilarTexts(t *testing.T) {
	for _, name := range []string{encoder, smallest} {
		got, err := embeddingEngine(t, Options{Path: modelFile(t, name)}).Embed(t.Context(), &engine.EmbeddingRequest{
			Model: openModel(t, Options{Path: modelFile(t, name)}).Info().Name,
			Inputs: []engine.EmbeddingInput{
				{Text: "How do I bake bread at home?"},
				{Text: "What is the best way to bake a loaf at home?"},
				{Text: "The central bank raised interest rates on Tuesday."},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		near, far := dot(got.Vectors[0], got.Vectors[1]), dot(got.Vectors[0], got.Vectors[2])
		t.Logf("%s: near %.3f, far %.3f", name, near, far)
		if near <= far {
			t.Errorf("%s: near %.3f, far %.3f", name, near, far)
		}
	}
}

// TestVectorsOfBothKernels: vectors of texts of many lengths, made with our kernels,
// have the direction of those that llama.cpp's make.
func TestVectorsOfBothKernels(t *testing.T) {
	const most = 1e-5 // how far the cosine may be from 1
	w := writer{rand.New(rand.NewPCG(3, 5))}
	texts := []string{"a", "?", "42", "The", scripts[0], scripts[1], scripts[3]}
	for n := range 35 {
		texts = append(texts, w.paragraph(1+n))
	}
	var vectors [2][][]float32
	var inputs [][]int32
	for i, kernels := range []Kernels{KernelsOwn, KernelsGGML} {
		m := openModel(t, Options{Path: modelFile(t, encoder), Threads: 1, Kernels: kernels})
		inputs = nil
		for _, text := range texts {
			tokens, err := m.TokenizeInput(t.Context(), text)
			if err != nil {
				t.Fatal(err)
			}
			inputs = append(inputs, tokens[:min(len(tokens), m.Info().Vectors.Input)])
		}
		var err error
		if vectors[i], err = m.Embed(t.Context(), inputs); err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
	worst := 0.0
	for i := range texts {
		distance := 1 - cosine(vectors[0][i], vectors[1][i])
		worst = max(worst, distance)
		if !(distance <= most) {
			t.Errorf("%d tokens, %.30q: the cosine is %v", len(inputs[i]), texts[i], 1-distance)
		}
	}
	t.Logf("1 to %d tokens: 1 - cosine is at most %.2g", len(inputs[len(inputs)-1]), worst)
}
