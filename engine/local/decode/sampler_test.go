package decode

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// words is a vocabulary of these texts; token 0 ends the turn and token 1
// is a control token.
func words(texts ...string) *Vocabulary {
	v := &Vocabulary{BOS: -1, EOS: 0}
	v.Add([]byte("<end>"), KindControl|KindEndOfTurn)
	v.Add([]byte("<control>"), KindControl)
	for _, text := range texts {
		v.Add([]byte(text), 0)
	}
	return v
}

func noise(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	l := make([]float32, n)
	for i := range l {
		l[i] = float32(r.NormFloat64() * 4)
	}
	return l
}

func TestTop(t *testing.T) {
	for seed := range uint64(30) {
		logits := noise(seed, 500)
		for i := range logits {
			logits[i] = float32(math.Round(float64(logits[i]))) // many are equal
		}
		logits[3] = float32(math.NaN())
		logits[4] = float32(math.Inf(-1))
		var all []candidate
		for i, l := range logits {
			if l > float32(math.Inf(-1)) {
				all = append(all, candidate{int32(i), l})
			}
		}
		slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.logit, a.logit) })
		for _, n := range []int{1, 2, 40, 400, 498, 1000} {
			if got, want := top(logits, n, nil), all[:min(n, len(all))]; !slices.Equal(got, want) {
				t.Fatalf("seed %d, top %d: got %v, want %v", seed, n, got[:min(5, len(got))], want[:min(5, len(want))])
			}
		}
		if got := argmax(logits); got != all[0].token {
			t.Errorf("seed %d: largest is %d, want %d", seed, got, all[0].token)
		}
	}
}

// spread samples many times and returns the share of each token.
func spread(t *testing.T, v *Vocabulary, logits []float32, job chat.Job) map[int32]float64 {
	t.Helper()
	const n = 20000
	shares := map[int32]float64{}
	s := newSampler(v, job)
	for range n {
		if job.Constraint != nil {
			s.constraint = job.Constraint.Clone()
		}
		c, err := s.next(slices.Clone(logits), nil)
		if err != nil {
			t.Fatal(err)
		}
		shares[c.token] += 1.0 / n
	}
	return shares
}

// softmax of some logits at a temperature.
func softmax(logits map[int32]float64, temperature float64) map[int32]float64 {
	p, sum := map[int32]float64{}, 0.0
	for i, l := range logits {
		p[i] = math.Exp(l / temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func TestDistribution(t *testing.T) {
	v := words("a", "b", "c", "d", "e", "f")
	logits := []float32{-20, -20, 2, 1.5, 1, 0, -1, -3}
	for _, tt := range []struct {
		name     string
		sampling engine.Sampling
		want     map[int32]float64 // logits of what stays
		at       float64
	}{
		{"all", engine.Sampling{Temperature: new(1.0), TopP: new(1.0)}, map[int32]float64{2: 2, 3: 1.5, 4: 1, 5: 0, 6: -1, 7: -3}, 1},
		{"hot", engine.Sampling{Temperature: new(2.0), TopP: new(1.0)}, map[int32]float64{2: 2, 3: 1.5, 4: 1, 5: 0, 6: -1, 7: -3}, 2},
		{"top_k 2", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), TopK: new(2)}, map[int32]float64{2: 2, 3: 1.5}, 1},
		{"top_k 1", engine.Sampling{Temperature: new(5.0), TopP: new(1.0), TopK: new(1)}, map[int32]float64{2: 2}, 1},
		// The shares at temperature 1 are .44 .27 .16 .06 .02 .
		{"top_p .5", engine.Sampling{Temperature: new(1.0), TopP: new(0.5)}, map[int32]float64{2: 2, 3: 1.5}, 1},
		{"top_p .8, hot", engine.Sampling{Temperature: new(3.0), TopP: new(0.8)}, map[int32]float64{2: 2, 3: 1.5, 4: 1}, 3},
		{"top_p 0", engine.Sampling{Temperature: new(1.0), TopP: new(0.0)}, map[int32]float64{2: 2}, 1},
		{"min_p .3", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), MinP: new(0.3)}, map[int32]float64{2: 2, 3: 1.5, 4: 1}, 1},
		{"top_p of top_k", engine.Sampling{Temperature: new(1.0), TopP: new(0.6), TopK: new(2)}, map[int32]float64{2: 2}, 1},
		{"bias", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), TopK: new(2), LogitBias: map[int]float64{2: -100, 7: 5}}, map[int32]float64{7: 2, 3: 1.5}, 1},
	} {
		got := spread(t, v, logits, chat.Job{Sampling: tt.sampling})
		for token, want := range softmax(tt.want, tt.at) {
			if math.Abs(got[token]-want) > 0.015 {
				t.Errorf("%s: token %d has a probability of %.3f, want %.3f", tt.name, token, got[token], want)
			}
			delete(got, token)
		}
		for token, share := range got {
			if share > 1e-3 {
				t.Errorf("%s: token %d has a probability of %.3f, want none", tt.name, token, share)
			}
		}
	}
}

func TestGreedy(t *testing.T) {
	v := words("a", "b", "c")
	s := newSampler(v, chat.Job{Sampling: engine.Sampling{
		Temperature: new(0.0), TopP: new(1.0), FrequencyPenalty: new(0.5), PresencePenalty: new(1.0),
	}})
	// c leads by 2: it loses 1.5, then 2 in all, and b goes first.
	var got strings.Builder
	for range 4 {
		c, err := s.next([]float32{-9, -9, 1, 2.2, 4}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(c.text)
	}
	if want := "ccbc"; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

func TestSeed(t *testing.T) {
	v := words(strings.Split("abcdefghijklmnopqrstuvwxyz", "")...)
	text := func(seed uint64, choice int) string {
		var b strings.Builder
		s := newSampler(v, chat.Job{Choice: choice, Sampling: engine.Sampling{Temperature: new(1.0), TopP: new(1.0), TopK: new(20), Seed: new(int64(seed))}})
		for i := range uint64(50) {
			c, err := s.next(noise(i, v.Size()), nil)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(c.text)
		}
		return b.String()
	}
	first := text(7, 0)
	if again := text(7, 0); again != first {
		t.Errorf("the same seed gave %q and %q", first, again)
	}
	if other := text(8, 0); other == first {
		t.Errorf("another seed gave the same %q", other)
	}
	if other := text(7, 1); other == first {
		t.Errorf("another choice of the request gave the same %q", other)
	}
}

func TestLogprobs(t *testing.T) {
	v := words("a", "b", "c")
	n := 2
	s := newSampler(v, chat.Job{
		Sampling: engine.Sampling{Temperature: new(0.0), LogitBias: map[int]float64{2: 10}},
		Logprobs: &n,
	})
	logits := []float32{-1, -2, 0, 1, 2}
	sum := 0.0
	for _, l := range logits {
		sum += math.Exp(float64(l))
	}
	c, err := s.next(slices.Clone(logits), nil)
	if err != nil {
		t.Fatal(err)
	}
	// The bias makes a the choice; its probability is the model's own.
	if want := -math.Log(sum); string(c.text) != "a" || math.Abs(c.logprob-want) > 1e-6 {
		t.Errorf("chose %q with %v, want a with %v", c.text, c.logprob, want)
	}
	if len(c.top) != 2 || string(c.top[0].Token) != "c" || math.Abs(c.top[0].Logprob-(2-math.Log(sum))) > 1e-6 || string(c.top[1].Token) != "b" {
		t.Errorf("the most likely are %v", c.top)
	}
}

// TestMinLogprob: log probabilities of minus infinity and NaN are finite.
func TestMinLogprob(t *testing.T) {
	n := 3
	s := newSampler(words("a", "b", "c"), chat.Job{Logprobs: &n})
	p := s.logProbabilities([]float32{float32(math.Inf(-1)), float32(math.NaN()), 0})
	for token, want := range []float64{minLogprob, minLogprob, 0} {
		if got := p.of(int32(token)); got != want {
			t.Errorf("token %d: %v, want %v", token, got, want)
		}
	}
	for _, alternative := range p.top {
		if l := alternative.Logprob; l < minLogprob || l > 0 {
			t.Errorf("alternative %q: %v", alternative.Token, l)
		}
	}
}

func matcher(t *testing.T, node grammar.Node) *grammar.Matcher {
	t.Helper()
	g, err := grammar.Compile(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	return g.Matcher()
}

func TestConstraint(t *testing.T) {
	v := words("yes", "no", "y", "es", "zebra", "")
	for _, tt := range []struct {
		name   string
		logits []float32
		want   string
	}{
		{"the most likely is allowed", []float32{0, 0, 9, 1, 1, 1, 1, 0}, "yes"},
		{"the most likely is not", []float32{0, 0, 1, 2, 1, 1, 9, 0}, "no"},
		{"the end is not yet allowed", []float32{9, 0, 1, 2, 1, 1, 1, 0}, "no"},
		{"control tokens are not", []float32{0, 9, 1, 2, 1, 1, 1, 0}, "no"},
		{"nor is a token without text", []float32{0, 0, 2, 1, 1, 1, 1, 9}, "yes"},
		{"in two tokens", []float32{0, 0, 1, 2, 8, 9, 1, 0}, "yes"},
	} {
		for _, temperature := range []float64{0, 0.01} {
			s := newSampler(v, chat.Job{
				Sampling:   engine.Sampling{Temperature: new(temperature), TopP: new(1.0), TopK: new(2)},
				Constraint: matcher(t, grammar.Choice(grammar.Literal("yes"), grammar.Literal("no"))),
			})
			var got strings.Builder
			for {
				c, err := s.next(slices.Clone(tt.logits), nil)
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				if c.end {
					break
				}
				got.Write(c.text)
			}
			if got.String() != tt.want {
				t.Errorf("%s, temperature %v: got %q, want %q", tt.name, temperature, got.String(), tt.want)
			}
		}
	}
}

// TestUnlikelyTokenIsAllowed: the one allowed token is the least likely of many.
func TestUnlikelyTokenIsAllowed(t *testing.T) {
	texts := slices.Repeat([]string{"x"}, 2000)
	v := words(append(texts, "yes")...)
	logits := noise(1, v.Size())
	logits[v.Size()-1] = -50
	s := newSampler(v, chat.Job{
		Sampling:   engine.Sampling{Temperature: new(1.0), TopP: new(0.9), TopK: new(40)},
		Constraint: matcher(t, grammar.Literal("yes")),
	})
	if c, err := s.next(logits, nil); err != nil || string(c.text) != "yes" {
		t.Errorf("got %q, error %v", c.text, err)
	}
}

func TestNothingAllowed(t *testing.T) {
	s := newSampler(words("a", "b"), chat.Job{
		Sampling:   engine.Sampling{Temperature: new(1.0), TopP: new(1.0)},
		Constraint: matcher(t, grammar.Literal("zebra")),
	})
	if c, err := s.next([]float32{0, 0, 0, 0}, nil); err != errNoneAllowed {
		t.Errorf("got %+v, error %v", c, err)
	}
}

// TestConstraintKeepsProportions: what is allowed keeps its shares.
func TestConstraintKeepsProportions(t *testing.T) {
	v := words("a", "b", "c", "d")
	logits := []float32{-20, -20, 3, 2, 1, 0}
	got := spread(t, v, logits, chat.Job{
		Sampling:   engine.Sampling{Temperature: new(1.0), TopP: new(1.0)},
		Constraint: matcher(t, grammar.Choice(grammar.Literal("b"), grammar.Literal("c"), grammar.Literal("d"))),
	})
	for token, want := range softmax(map[int32]float64{3: 2, 4: 1, 5: 0}, 1) {
		if math.Abs(got[token]-want) > 0.015 {
			t.Errorf("token %d has a probability of %.3f, want %.3f", token, got[token], want)
		}
	}
}

func TestMarkers(t *testing.T) {
	v := words("a")
	for _, tt := range []struct {
		name    string
		markers []string
		likely  int
		text    string
		end     bool
	}{
		{"control token", nil, 1, "", false},
		{"marker", []string{"<control>"}, 1, "<control>", false},
		{"end", nil, 0, "", true},
		{"end that is a marker", []string{"<end>"}, 0, "<end>", true},
	} {
		logits := []float32{0, 0, 0}
		logits[tt.likely] = 1
		c, err := newSampler(v, chat.Job{Markers: tt.markers}).next(logits, nil)
		if err != nil || string(c.text) != tt.text || c.end != tt.end {
			t.Errorf("%s: text %q, end %v, error %v; want %q, %v", tt.name, c.text, c.end, err, tt.text, tt.end)
		}
	}
}

func TestNoLogits(t *testing.T) {
	nan := float32(math.NaN())
	for _, temperature := range []float64{0, 1} {
		s := newSampler(words("a"), chat.Job{Sampling: engine.Sampling{Temperature: new(temperature), TopP: new(1.0)}})
		if _, err := s.next([]float32{nan, nan, nan}, nil); err != errNoLogits {
			t.Errorf("temperature %v: error %v", temperature, err)
		}
	}
}

// BenchmarkNext is one choice among 150,000 tokens with the defaults of the
// engine.
func BenchmarkNext(b *testing.B) {
	v := words(slices.Repeat([]string{"word"}, 150_000)...)
	logits := noise(1, v.Size())
	for _, tt := range []struct {
		name     string
		sampling engine.Sampling
	}{
		{"greedy", engine.Sampling{}},
		{"defaults", engine.Sampling{Temperature: new(0.8), TopK: new(40), TopP: new(0.95), MinP: new(0.05)}},
		{"top_p alone", engine.Sampling{Temperature: new(0.8), TopP: new(0.95)}},
		{"all", engine.Sampling{Temperature: new(0.8), TopP: new(1.0)}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			s := newSampler(v, chat.Job{Sampling: tt.sampling})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.next(logits, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
