package decode

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// sampler samples the tokens of one sequence.
//
// The order of the steps is llama.cpp's, which model cards assume: bias and
// penalties, then top_k, typical_p, top_p and min_p at temperature 1,
// temperature last. Each token draws exactly two random numbers, the second for
// when the constraint rejects the first choice, so that a text depends on the
// seed alone.
type sampler struct {
	vocab      *Vocabulary
	settings   engine.Sampling // every parameter is set
	constraint *grammar.Matcher
	exclusive  []int32 // the tokens that logit_bias leaves; nil: many
	markers    map[int32]bool
	logprobs   *int

	random *rand.Rand
	counts map[int32]int  // of generated tokens, for penalties; nil: no penalties
	repeat *repeatPenalty // nil: none

	buf  []candidate // reused between steps
	bins *bins       // nil: not used yet
}

// choice is a sampled token, the end of the sequence, or both: a marker that
// ends the turn is still text.
type choice struct {
	token   int32
	emitted bool // token is part of the output
	end     bool
	text    []byte
	logprob float64
	top     []engine.TokenLogprob
}

// errNoneAllowed: no token of the vocabulary can produce the text that the
// constraint requires.
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
		// Choices of one request share its seed but must differ.
		random: rand.New(rand.NewPCG(uint64(*settings.Seed), uint64(job.Choice))),
		repeat: newRepeatPenalty(settings, job.Prompt),
	}
	if *s.settings.FrequencyPenalty != 0 || *s.settings.PresencePenalty != 0 {
		s.counts = map[int32]int{}
	}
	if s.counts == nil && s.repeat == nil { // penalties could outweigh the bias
		s.exclusive = exclusive(settings.LogitBias)
	}
	return s
}

// next samples a token. It may modify logits. few are the tokens that the constraint
// or the bias allows, if they are few; nil: any may be allowed.
func (s *sampler) next(logits []float32, few []int32) (choice, error) {
	if s.finished() {
		return choice{end: true}, nil
	}
	probabilities := s.logProbabilities(logits)
	s.adjust(logits)
	first, second := s.random.Float64(), s.random.Float64()
	if few != nil {
		token, err := s.pickFew(logits, few, first)
		if err != nil {
			return choice{}, err
		}
		return s.accept(token, probabilities)
	}
	token := s.pick(logits, first)
	if token < 0 {
		return choice{}, errNoLogits
	}
	if s.constraint != nil && !s.allows(token) {
		var err error
		if token, err = s.pickAllowed(logits, second); err != nil {
			return choice{}, err
		}
		if err := s.constraint.Err(); err != nil { // it gave up: what it allowed is unreliable
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

// finished reports whether the constraint allows no more text.
func (s *sampler) finished() bool { return s.constraint != nil && s.constraint.Finished() }

func (s *sampler) accept(token int32, p *probabilities) (choice, error) {
	end := s.vocab.Is(token, KindEndOfTurn)
	if end && !s.markers[token] {
		return choice{token: token, end: true}, nil
	}
	text := s.vocab.output(token, s.markers)
	if s.constraint != nil && !s.constraint.Accept(text) {
		if end && s.constraint.Err() == nil { // a marker that is not in the grammar
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
	c := choice{token: token, emitted: true, end: end, text: text}
	if p != nil {
		c.logprob, c.top = p.of(token), p.top
	}
	return c, nil
}

// adjust applies bias and penalties.
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

// pick samples from all tokens; -1 if all logits are NaN or minus infinity.
func (s *sampler) pick(logits []float32, u float64) int32 {
	if *s.settings.Temperature > 0 && *s.settings.TopK > 0 {
		return s.draw(s.truncated(logits), u) // needs no argmax
	}
	best := argmax(logits)
	switch {
	case best < 0 || *s.settings.Temperature == 0:
		return best
	case *s.settings.TopP >= 1 && *s.settings.MinP <= 0 && !s.typical():
		return s.pickUntruncated(logits, best, u)
	}
	return s.draw(s.truncated(logits), u)
}

// typical reports whether typical_p has an effect.
func (s *sampler) typical() bool { p := *s.settings.TypicalP; return p > 0 && p < 1 }

// truncated returns what top_k, typical_p, top_p and min_p leave, the most likely
// first.
func (s *sampler) truncated(logits []float32) []candidate {
	if s.typical() {
		s.buf = top(logits, cmp.Or(max(0, *s.settings.TopK), len(logits)), s.buf)
		kept := typical(s.buf, *s.settings.TypicalP)
		return s.truncate(kept, weight(kept))
	}
	if k := *s.settings.TopK; k > 0 {
		s.buf = top(logits, k, s.buf)
		return s.truncate(s.buf, weight(s.buf))
	}
	return s.nucleus(logits)
}

// truncate applies top_p and min_p to the ordered candidates and keeps at least
// one. total is the weight of all tokens, relative to the first candidate.
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

// weight sums the candidates' weights, relative to the first.
func weight(ordered []candidate) float64 {
	sum := 0.0
	for _, c := range ordered {
		sum += math.Exp(float64(c.logit - ordered[0].logit))
	}
	return sum
}

// draw samples from the ordered candidates at the temperature; -1 if there are
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
	return ordered[0].token // rounding error: u was next to 1
}

// probabilities are those of the model, before any sampling step.
type probabilities struct {
	logits map[int32]float32 // of the tokens that adjust may change
	all    []float32
	sum    float64
	top    []engine.TokenLogprob
}

// logProbabilities returns nil if the request did not ask for them.
func (s *sampler) logProbabilities(logits []float32) *probabilities {
	if s.logprobs == nil {
		return nil
	}
	best := argmax(logits)
	if best < 0 {
		return nil // pick fails, too
	}
	p := &probabilities{all: logits, sum: logSum(logits, logits[best]), logits: map[int32]float32{}}
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
				Token:   s.vocab.Bytes(c.token),
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

// minLogprob stands for minus infinity, which JSON lacks. The value is that of
// the OpenAI-style document.
const minLogprob = -9999

func (p *probabilities) log(logit float32) float64 {
	l := float64(logit) - p.sum
	if l > minLogprob { // false for NaN
		return min(l, 0)
	}
	return minLogprob
}
