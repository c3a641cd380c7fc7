package chat

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// A raw prompt is continued as it is. No template stands around it, so what
// the model says is text, whatever the markup in it, and the spellings of
// control tokens in the prompt are those tokens.

// formatOf is the output format of the answer to a request.
func (e *Engine) formatOf(req *engine.Request) *format.Format {
	if req.Prompt != nil {
		return format.PlainText()
	}
	return e.format
}

// checkRaw compares a raw prompt with what the model can do.
func (e *Engine) checkRaw(req *engine.Request) error {
	if req.Prompt == nil || req.Prompt.Suffix == "" || e.info.FIM.Known() {
		return nil
	}
	return engine.Errorf(engine.CodeUnsupported,
		"The model %s cannot fill in the middle of a text: it has no tokens for that. Send the prompt without a suffix.", e.info.Name).
		At(engine.Place{Field: engine.FieldSuffix})
}

// rawSpans is a raw prompt as the model sees it. Around a gap, the tokens that
// mark it are ours alone: their spellings in the client's texts, which may well
// be source code about them, would move the gap.
func rawSpans(raw *engine.Prompt, info Info, special *tokenizer.Spellings) []prompt.Span {
	if raw.Suffix == "" {
		// A model needs something to continue. What it was taught to see in
		// front of a new text is its start token, or the end of the last one.
		return findSpecial(cmp.Or(raw.Text, info.BOS, info.EOS), special, nil)
	}
	f := info.FIM
	marks := []string{strings.TrimSpace(f.Prefix), strings.TrimSpace(f.Suffix), strings.TrimSpace(f.Middle)}
	ours := func(text string) []prompt.Span { return findSpecial(text, special, nil) }
	before := append(ours(f.Prefix), findSpecial(raw.Text, special, marks)...)
	behind := append(ours(f.Suffix), findSpecial(raw.Suffix, special, marks)...)
	if f.SuffixFirst {
		before, behind = behind, before
	}
	return slices.Concat(before, behind, ours(f.Middle))
}

// findSpecial makes spans of a text whose spellings of control tokens are these,
// but for some.
func findSpecial(text string, special *tokenizer.Spellings, but []string) []prompt.Span {
	var spans []prompt.Span
	done := 0
	for from, to := range special.Find(text) {
		if slices.Contains(but, text[from:to]) {
			continue
		}
		if from > done {
			spans = append(spans, prompt.Span{Text: text[done:from]})
		}
		spans = append(spans, prompt.Span{Text: text[from:to], Special: true})
		done = to
	}
	if done < len(text) {
		spans = append(spans, prompt.Span{Text: text[done:]})
	}
	return spans
}

// promptPlace is where a request has its prompt.
func promptPlace(req *engine.Request) engine.Place {
	if req.Prompt != nil {
		return engine.Place{Field: engine.FieldPrompt}
	}
	return engine.Place{Field: engine.FieldMessages}
}

// placeLength says where in the request the prompt is that a model, which
// knows tokens alone, found too long.
func placeLength(err error, req *engine.Request) error {
	if coded := (*engine.Error)(nil); errors.As(err, &coded) && coded.Code == engine.CodeContextLength {
		return coded.At(promptPlace(req))
	}
	return err
}
