package openai

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

func fromCompletion(h head, r *engine.Response, logprobs bool) wire.Completion {
	out := wire.NewCompletion(h.id, h.created, h.model, fromUsage(r.Usage))
	for i, choice := range r.Choices {
		out.Choices = append(out.Choices, fromContinuation(i, choice, logprobs))
	}
	return out
}

// fromContinuation joins the text of one choice: this style has no other blocks.
func fromContinuation(index int, choice engine.Choice, logprobs bool) wire.CompletionChoice {
	var text strings.Builder
	var tokens []engine.TokenLogprob
	for _, b := range choice.Blocks {
		if b.Kind == engine.BlockText {
			text.WriteString(b.Text)
			tokens = append(tokens, b.Logprobs...)
		}
	}
	out := wire.NewCompletionChoice(index, text.String(), fromCompletionFinish[choice.Reason])
	if logprobs {
		out.Logprobs.Set(new(textCursor).fromTokens(tokens))
	}
	return out
}

var fromCompletionFinish = map[engine.FinishReason]wire.CompletionFinishReason{
	engine.FinishEndOfTurn:    wire.CompletionFinishReasonStop,
	engine.FinishStopSequence: wire.CompletionFinishReasonStop,
	engine.FinishMaxTokens:    wire.CompletionFinishReasonLength,
	engine.FinishToolCalls:    wire.CompletionFinishReasonStop,
}

// textCursor is an offset in the text of one choice. The zero value is the beginning.
type textCursor struct {
	characters int
	begun      []byte // incomplete character, completed by later tokens
}

// fromTokens maps the next tokens and advances.
func (c *textCursor) fromTokens(tokens []engine.TokenLogprob) wire.CompletionLogprobs {
	out := wire.NewCompletionLogprobs()
	for _, t := range tokens {
		out.Tokens = append(out.Tokens, fromTokenBytes(t.Token))
		out.TokenLogprobs = append(out.TokenLogprobs, fromLogprob(t.Logprob))
		out.TopLogprobs = append(out.TopLogprobs, fromTop(t))
		out.TextOffset = append(out.TextOffset, c.advance(t.Token))
	}
	return out
}

// advance moves past a token and returns where it begins. A token that begins inside a
// character has that character's offset.
func (c *textCursor) advance(token []byte) int {
	start, old := c.characters, len(c.begun)
	c.begun = append(c.begun, token...)
	if size, _ := engine.FirstChar(c.begun); old > 0 && size == old {
		start++ // the previous character stays incomplete
	}
	for whole := engine.WholeChars(c.begun); whole > 0; {
		size, _ := engine.FirstChar(c.begun[:whole])
		c.begun, whole = c.begun[size:], whole-size
		c.characters++
	}
	return start
}

// fromTop maps the alternatives and, as the vendor does, the token itself. Tokens with the
// same text, which a vocabulary may have, share one field.
func fromTop(t engine.TokenLogprob) wire.CompletionTopLogprobs {
	top := make(wire.CompletionTopLogprobs, len(t.Top)+1)
	if math.IsNaN(t.Logprob) {
		return top
	}
	for _, alternative := range t.Top {
		if spelling := fromTokenBytes(alternative.Token); !has(top, spelling) { // most likely first
			top[spelling] = alternative.Logprob
		}
	}
	if spelling := fromTokenBytes(t.Token); !has(top, spelling) {
		top[spelling] = t.Logprob
	}
	return top
}

func has(top wire.CompletionTopLogprobs, spelling string) bool {
	_, ok := top[spelling]
	return ok
}

// fromLogprob returns null for the first token of a prompt.
func fromLogprob(logprob float64) nullable.Nullable[float64] {
	if math.IsNaN(logprob) {
		return nullable.NewNullNullable[float64]()
	}
	return nullable.NewNullableWithValue(logprob)
}

// fromTokenBytes returns the token as text. Incomplete characters are written as bytes, as
// the vendor does: bytes:\xe2\x9c.
func fromTokenBytes(token []byte) string {
	if utf8.Valid(token) {
		return string(token)
	}
	var b strings.Builder
	b.WriteString("bytes:")
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, token[0])
		} else {
			b.Write(token[:size])
		}
		token = token[size:]
	}
	return b.String()
}
