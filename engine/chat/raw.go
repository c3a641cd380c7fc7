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

// A raw prompt (/v1/completions) is continued without a chat template: the output
// is plain text, and special-token text in the prompt becomes special tokens.

// formatOf is the output format of a request.
func (e *Engine) formatOf(req *engine.Request) *format.Format {
	if req.Prompt != nil {
		return format.PlainText()
	}
	return e.format
}

// checkRaw checks a raw prompt against the capabilities of the model.
func (e *Engine) checkRaw(req *engine.Request) error {
	if req.Prompt == nil || req.Prompt.Suffix == "" || e.info.FIM.Known() {
		return nil
	}
	return engine.Errorf(engine.CodeUnsupported,
		"The model %s cannot fill in the middle of a text: it has no tokens for that. Send the prompt without a suffix.", e.info.Name).
		At(engine.Place{Field: engine.FieldSuffix})
}

// rawSpans makes spans of a raw prompt. With a suffix, the text of the
// fill-in-the-middle tokens in the client's own text stays text: it may be source
// code about them, and would move the gap.
func rawSpans(raw *engine.Prompt, info Info, special *tokenizer.Spellings) []prompt.Span {
	if raw.Suffix == "" {
		// An empty prompt becomes BOS, or EOS: models learn that a document
		// follows these.
		return findSpecial(cmp.Or(raw.Text, info.BOS, info.EOS), special, nil)
	}
	f := info.FIM
	fim := []string{strings.TrimSpace(f.Prefix), strings.TrimSpace(f.Suffix), strings.TrimSpace(f.Middle)}
	ours := func(text string) []prompt.Span { return findSpecial(text, special, nil) }
	before := append(ours(f.Prefix), findSpecial(raw.Text, special, fim)...)
	behind := append(ours(f.Suffix), findSpecial(raw.Suffix, special, fim)...)
	if f.SuffixFirst {
		before, behind = behind, before
	}
	return slices.Concat(before, behind, ours(f.Middle))
}

// findSpecial splits a text at its special tokens, except for those named.
func findSpecial(text string, special *tokenizer.Spellings, except []string) []prompt.Span {
	var spans []prompt.Span
	done := 0
	for from, to := range special.Find(text) {
		if slices.Contains(except, text[from:to]) {
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

// promptPlace is the field that holds a request's prompt.
func promptPlace(req *engine.Request) engine.Place {
	if req.Prompt != nil {
		return engine.Place{Field: engine.FieldPrompt}
	}
	return engine.Place{Field: engine.FieldMessages}
}

// placeLength adds the request's field to a context_length error of the model.
func placeLength(err error, req *engine.Request) error {
	if coded := (*engine.Error)(nil); errors.As(err, &coded) && coded.Code == engine.CodeContextLength {
		return coded.At(promptPlace(req))
	}
	return err
}
