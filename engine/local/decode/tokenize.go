package decode

import (
	"context"
	"errors"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// Tokenize tokenizes a prompt. It prepends BOS if the model wants it and the
// template has not written it. It stops at twice the context: a client can send
// tens of megabytes.
func (m *Model) Tokenize(ctx context.Context, p prompt.Prompt) ([]int32, error) {
	var tokens []int32
	var err error
	spans := p.Spans
	for len(spans) > 0 && err == nil {
		if image := spans[0].Image; image != nil {
			spans = spans[1:]
			tokens, err = m.appendImage(ctx, tokens, image)
			if err == nil && len(tokens) > m.tokenLimit() && len(spans) > 0 {
				err = m.tooLong(len(tokens))
			}
			continue
		}
		end := slices.IndexFunc(spans, func(s prompt.Span) bool { return s.Image != nil })
		if end < 0 {
			end = len(spans)
		}
		tokens, err = m.appendText(ctx, tokens, spans[:end])
		spans = spans[end:]
	}
	if err != nil {
		return nil, err
	}
	if m.vocab.AddBOS && m.vocab.BOS >= 0 && (len(tokens) == 0 || tokens[0] != m.vocab.BOS) {
		tokens = append([]int32{m.vocab.BOS}, tokens...)
	}
	return tokens, nil
}

// tokenLimit is where Tokenize stops.
func (m *Model) tokenLimit() int { return 2 * m.info.Context }

// appendText tokenizes spans without images.
func (m *Model) appendText(ctx context.Context, tokens []int32, spans []prompt.Span) ([]int32, error) {
	parts := make([]tokenizer.Part, len(spans))
	for i, s := range spans {
		parts[i] = tokenizer.Part{Text: s.Text, Special: s.Special}
	}
	tokens, err := m.tokenizer.Encode(ctx, tokens, parts, m.tokenLimit())
	switch {
	case errors.Is(err, tokenizer.ErrMany):
		return nil, m.tooLong(m.tokenLimit())
	case ctx.Err() != nil:
		return nil, engine.AsError(ctx.Err())
	case err != nil:
		return nil, engine.Errorf(engine.CodeInternal, "The prompt could not be tokenized.").Because(err)
	}
	return tokens, nil
}

// appendImage adds the tokens of an image; see [Layout].
func (m *Model) appendImage(ctx context.Context, tokens []int32, image *prompt.Image) ([]int32, error) {
	if err := ctx.Err(); err != nil {
		return nil, engine.AsError(err)
	}
	l, err := m.imageEncoder.Layout(ctx, image.Picture)
	if err != nil {
		return nil, image.Fail(err)
	}
	return append(tokens, l.tokens(image.Picture)...), nil
}

// tooLong is the error for a prompt with more than n tokens.
func (m *Model) tooLong(n int) *engine.Error {
	err := engine.Errorf(engine.CodeContextLength,
		"The prompt is too long: it has more than %d tokens, and the model's context is %d tokens.", n, m.info.Context).
		At(engine.Place{Field: engine.FieldMessages})
	err.Tokens, err.Limit = n, m.info.Context
	return err
}
