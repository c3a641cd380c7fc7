package chat

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/diglot/diglot/engine"
)

// sampling fills in the defaults of a request: the model's recommendation, then
// ours, and a random seed.
func (e *Engine) sampling(request engine.Sampling) (engine.Sampling, error) {
	s := request
	s.Fill(e.info.Sampling)
	s.Fill(engine.DefaultSampling())
	if s.Seed != nil {
		return s, nil
	}
	seed, err := e.drawSeed()
	s.Seed = &seed
	return s, err
}

func (e *Engine) drawSeed() (int64, error) {
	var b [8]byte
	if _, err := io.ReadFull(e.random, b[:]); err != nil {
		return 0, fmt.Errorf("random bytes for a seed: %w", err)
	}
	return int64(binary.LittleEndian.Uint64(b[:])), nil
}
