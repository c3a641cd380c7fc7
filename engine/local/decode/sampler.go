package decode

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// sampler chooses the tokens of one sequence.
//
// The steps come in llama.cpp's order, which recommendations for models are
// made for: bias and penalties, then top_k, typical_p, top_p and min_p on the
// model's own probabilities, temperature last. Each token uses exactly two random
// numbers, the second for where a constraint refuses what the first chose:
// a text depends on the seed alone.
type sampler struct {
	vocab      *Vocabulary
	settings   engine.Sampling // every parameter is set
	constraint *grammar.Matcher
	markers    map[int32]bool
	logprobs   *int

	random *rand.Rand
	counts map[int32]int // of generated tokens, for penalties; nil without them
	repeat *repeats      // nil without a penalty for them

	buf  []candidate // memory kept between steps
	sums []float64
}

// choice is one chosen token, or the end of the text, or both: a marker that
// ends the turn is still text.
type choice struct {
	token   int32
	spoken  bool // token counts, and adds text
	end     bool
	text    []byte
	logprob float64
	top     []engine.TokenLogprob
}

// errNoneAllowed: the constraint wants text that no token of the vocabulary can spell.
var errNoneAllowed = errors.New("no token continues the constrained text")

var errNoLogits = errors.New("the model computed no usable probabilities")

func newSampler(vocab *Vocabulary, job chat.Job) *sampler {
	settings := job.Sampling
	settings.Fill(engine.NeutralSampling())
	s := &sampler{
		vocab:      vocab,
		settings:   settings,
		constraint: job.Constraint,
		markers:    vocab.markerSet(job.Markers),
		logprobs:   job.Logprobs,
		// The choices of one request share its seed and must differ.
		random: rand.New(rand.NewPCG(uint64(*settings.Seed), uint64(job.Choice))),
		repeat: newRepeats(settings, job.Prompt),
	}
	if *s.settings.FrequencyPenalty != 0 || *s.settings.PresencePenalty != 0 {
		s.counts = map[int32]int{}
	}
	return s
}

// next chooses a token by its logits, which it may change.
func (s *sampler) next(logits []float32) (choice, error) {
	if s.finished() {
		return choice{end: true}, nil
	}
	probabilities := s.probabilities(logits)
	s.adjust(logits)
	first, second := s.random.Float64(), s.random.Float64()
	token := s.pick(logits, first)
	if token < 0 {
		return choice{}, errNoLogits
	}
	if s.constraint != nil && !s.allows(token) {
		var err error
		if token, err = s.pickAllowed(logits, second); err != nil {
			return choice{}, err
		}
		if err := s.constraint.Err(); err != nil { // it gave up, and what was allowed is not known
			return choice{}, err
		}
	}
	return s.accept(token, probabilities)
}

// refused is why the constraint allows no token.
func (s *sampler) refused() error {
	if err := s.constraint.Err(); err != nil {
		return err
	}
	return errNoneAllowed
}

// finished reports whether the constraint leaves nothing to say.
func (s *sampler) finished() bool { return s.constraint != nil && s.constraint.Finished() }

func (s *sampler) accept(token int32, p *probabilities) (choice, error) {
	end := s.vocab.Is(token, KindEndOfTurn)
	if end && !s.markers[token] {
		return choice{token: token, end: true}, nil
	}
	text := s.vocab.output(token, s.markers)
	if s.constraint != nil && !s.constraint.Accept(text) {
		if end && s.constraint.Err() == nil { // a marker that the constraint has no word for
			return choice{token: token, end: true}, nil
		}
		return choice{}, s.refused()
	}
	if s.counts != nil {
		s.counts[token]++
	}
	if s.repeat != nil {
		s.repeat.add(token)
	}
	c := choice{token: token, spoken: true, end: end, text: text}
	if p != nil {
		c.logprob, c.top = p.of(token), p.top
	}
	return c, nil
}

// adjust applies bias and penalties, which touch few tokens.
func (s *sampler) adjust(logits []float32) {
	for token, bias := range s.settings.LogitBias {
		logits[token] += float32(bias)
	}
	if s.repeat != nil {
		s.repeat.adjust(logits)
	}
	frequency, presence := *s.settings.FrequencyPenalty, *s.settings.PresencePenalty
	for token, n := range s.counts {
		logits[token] -= float32(float64(n)*frequency + presence)
	}
}

// pick chooses among all tokens; -1 where all logits are NaN or minus
// infinity.
func (s *sampler) pick(logits []float32, u float64) int32 {
	if *s.settings.Temperature > 0 && *s.settings.TopK > 0 {
		return s.draw(s.nucleus(logits), u) // needs no look at all logits for the largest
	}
	likely := largest(logits)
	switch {
	case likely < 0 || *s.settings.Temperature == 0:
		return likely
	case *s.settings.TopP >= 1 && *s.settings.MinP <= 0 && !s.typical():
		return s.pickAny(logits, likely, u)
	}
	return s.draw(s.nucleus(logits), u)
}

// typical reports whether typical_p leaves anything out.
func (s *sampler) typical() bool { p := *s.settings.TypicalP; return p > 0 && p < 1 }

// nucleus returns what top_k, typical_p, top_p and min_p leave, likeliest
// first.
func (s *sampler) nucleus(logits []float32) []candidate {
	if s.typical() {
		s.buf = top(logits, cmp.Or(max(0, *s.settings.TopK), len(logits)), s.buf)
		kept := typical(s.buf, *s.settings.TypicalP)
		return s.truncate(kept, weight(kept))
	}
	if k := *s.settings.TopK; k > 0 {
		s.buf = top(logits, k, s.buf)
		return s.truncate(s.buf, weight(s.buf))
	}
	// Without top_k, look at ever more of the likeliest until the others
	// decide where to stop.
	total := 1.0
	if *s.settings.TopP < 1 {
		largest := logits[largest(logits)]
		total = math.Exp(logSum(logits, largest) - float64(largest))
	}
	for n := 128; ; n *= 8 {
		s.buf = top(logits, n, s.buf)
		if kept := s.truncate(s.buf, total); len(kept) < len(s.buf) || len(s.buf) < n {
			return kept
		}
	}
}

// truncate cuts the ordered candidates by top_p and min_p. total is the
// weight of all tokens that count, the likeliest one's being 1. At least
// one candidate stays.
func (s *sampler) truncate(ordered []candidate, total float64) []candidate {
	if len(ordered) == 0 {
		return nil
	}
	minP, topP := *s.settings.MinP, *s.settings.TopP
	sum := 0.0
	for i, c := range ordered {
		w := math.Exp(float64(c.logit - ordered[0].logit))
		if i > 0 && (w < minP || topP < 1 && sum >= topP*total) {
			return ordered[:i]
		}
		sum += w
	}
	return ordered
}

// weight sums the candidates' weights, the first one's being 1.
func weight(ordered []candidate) float64 {
	sum := 0.0
	for _, c := range ordered {
		sum += math.Exp(float64(c.logit - ordered[0].logit))
	}
	return sum
}

// draw chooses among ordered candidates, at temperature; -1 where there are
// none.
func (s *sampler) draw(ordered []candidate, u float64) int32 {
	if len(ordered) == 0 {
		return -1
	}
	temperature := *s.settings.Temperature
	if temperature == 0 {
		return ordered[0].token
	}
	scaled := func(c candidate) float64 {
		return math.Exp(float64(c.logit-ordered[0].logit) / temperature)
	}
	sum := 0.0
	for _, c := range ordered {
		sum += scaled(c)
	}
	rest := u * sum
	for _, c := range ordered {
		if rest -= scaled(c); rest < 0 {
			return c.token
		}
	}
	return ordered[0].token // rounding left a crumb: u was next to 1
}

// stretch is how many tokens pickAny adds up before it notes the sum.
const stretch = 1024

// pickAny chooses among all tokens where nothing cuts them off. It goes in
// the order of the vocabulary, so that nothing is sorted: once for the sum,
// then only where the sum passes u.
func (s *sampler) pickAny(logits []float32, likely int32, u float64) int32 {
	best, temperature := logits[likely], *s.settings.Temperature
	floor := best - float32(negligible*temperature)
	weigh := func(logits []float32) float64 {
		sum := 0.0
		for _, l := range logits {
			if l > floor {
				sum += math.Exp(float64(l-best) / temperature)
			}
		}
		return sum
	}
	s.sums = s.sums[:0]
	total := 0.0
	for part := range slices.Chunk(logits, stretch) {
		sum := weigh(part)
		s.sums = append(s.sums, sum)
		total += sum
	}
	rest := u * total
	for i, sum := range s.sums {
		if rest >= sum {
			rest -= sum
			continue
		}
		for j := i * stretch; j < min((i+1)*stretch, len(logits)); j++ {
			if rest -= weigh(logits[j : j+1]); rest < 0 {
				return int32(j)
			}
		}
	}
	return likely // rounding left a crumb: u was next to 1
}

// probabilities are the model's own, before any step.
type probabilities struct {
	logits map[int32]float32 // of the tokens that a step may change
	all    []float32
	sum    float64
	top    []engine.TokenLogprob
}

// probabilities are nil where the request did not ask for them.
func (s *sampler) probabilities(logits []float32) *probabilities {
	if s.logprobs == nil {
		return nil
	}
	likely := largest(logits)
	if likely < 0 {
		return nil // nor will there be a token
	}
	p := &probabilities{all: logits, sum: logSum(logits, logits[likely]), logits: map[int32]float32{}}
	for token := range s.settings.LogitBias {
		p.logits[int32(token)] = logits[token]
	}
	if s.repeat != nil {
		for token := range s.repeat.counts {
			if token >= 0 && int(token) < len(logits) {
				p.logits[token] = logits[token]
			}
		}
	}
	for token := range s.counts {
		p.logits[token] = logits[token]
	}
	if n := *s.logprobs; n > 0 {
		s.buf = top(logits, n, s.buf)
		for _, c := range s.buf {
			p.top = append(p.top, engine.TokenLogprob{
				Token:   s.vocab.Spelling(c.token),
				Logprob: p.log(c.logit),
			})
		}
	}
	return p
}

func (p *probabilities) of(token int32) float64 {
	logit, changed := p.logits[token]
	if !changed {
		logit = p.all[token]
	}
	return p.log(logit)
}

// leastLogprob is the log probability of what a model holds for impossible, as
// the interface document of the OpenAI style has it: no style can tell minus
// infinity.
const leastLogprob = -9999

func (p *probabilities) log(logit float32) float64 {
	l := float64(logit) - p.sum
	if l > leastLogprob { // written so that NaN stays out
		return min(l, 0)
	}
	return leastLogprob
}
