//go:build (linux || darwin) && (amd64 || arm64)

package sdcpp

import (
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/diffusion"
	"github.com/diglot/diglot/engine/imagegen"
)

// checkPrompts refuses prompts of which the library would leave out a part, or worse.
func (m *Model) checkPrompts(job imagegen.Job) error {
	for _, p := range []struct{ what, text string }{{"prompt", job.Prompt}, {"negative prompt", job.NegativePrompt}} {
		if strings.Contains(p.text, "\x00") {
			return engine.Errorf(engine.CodeInvalidArgument, "The %s has a NUL character.", p.what).At(engine.Place{Field: engine.FieldPrompt})
		}
		limit := m.options.Parts.PromptLimit()
		if n := m.longest(p.text, limit); n > limit.Tokens {
			return engine.Errorf(engine.CodeInvalidArgument, "The %s has %d tokens. The text encoders of this model take %d.", p.what, n, limit.Tokens).
				At(engine.Place{Field: engine.FieldPrompt})
		}
	}
	return nil
}

// longest is the number of tokens of a text for the encoder that needs most of them.
func (m *Model) longest(text string, limit diffusion.Limit) int {
	m.library.counting.Lock()
	defer m.library.counting.Unlock()
	most := 0
	for i, counts := range []bool{limit.Clip, limit.T5} { // numbers of diglot_tokens
		if counts && text != "" {
			most = max(most, int(m.library.tokens(cString(text), int64(i))))
		}
	}
	return most
}
