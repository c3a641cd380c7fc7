package chat

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/diglot/diglot/engine"
)

// Defaults where neither the request nor the model says anything: those of
// llama.cpp, which its users know.
const (
	defaultTemperature = 0.8
	defaultTopP        = 0.95
	defaultTopK        = 40
	defaultMinP        = 0.05

	defaultRepeatLastN = 64 // where a model or its definition sets a penalty and not how far it looks back
)

// sampling fills in what the request leaves open: the model's own
// recommendation, then the defaults. A zero that was given is obeyed.
func sampling(request, model engine.Sampling, seed uint64) Sampling {
	return Sampling{
		Temperature:      first(defaultTemperature, request.Temperature, model.Temperature),
		TopP:             first(defaultTopP, request.TopP, model.TopP),
		TopK:             first(defaultTopK, request.TopK, model.TopK),
		MinP:             first(defaultMinP, request.MinP, model.MinP),
		FrequencyPenalty: first(0, request.FrequencyPenalty, model.FrequencyPenalty),
		PresencePenalty:  first(0, request.PresencePenalty, model.PresencePenalty),
		RepeatPenalty:    first(1, request.RepeatPenalty, model.RepeatPenalty),
		RepeatLastN:      first(defaultRepeatLastN, request.RepeatLastN, model.RepeatLastN),
		TypicalP:         first(1, request.TypicalP, model.TypicalP),
		Seed:             seed,
		LogitBias:        request.LogitBias,
	}
}

// first is the value of the first pointer that has one.
func first[T any](otherwise T, values ...*T) T {
	if v := cmp.Or(values...); v != nil {
		return *v
	}
	return otherwise
}

// seed is the request's own, or one made of random bytes. Choices take seeds
// that follow it, so that they differ, and are the same in the next request
// with the same seed.
func seed(request engine.Sampling, random io.Reader) (uint64, error) {
	if request.Seed != nil {
		return uint64(*request.Seed), nil
	}
	var b [8]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return 0, fmt.Errorf("random bytes for a seed: %w", err)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}
