// Package prompt holds rendered prompts: spans of text, special tokens and images.
// Only a [Span] that says so is a special token; special-token text in any other
// span stays text.
package prompt

import (
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/picture"
)

// Prompt is a rendered prompt. Request is what it was rendered from: package
// script picks its reply by it.
type Prompt struct {
	Spans   []Span
	Request *engine.Request
}

// String returns the prompt as text, with [image] for each image.
func (p Prompt) String() string {
	n := 0
	for _, s := range p.Spans {
		n += len(s.Text)
	}
	b := make([]byte, 0, n)
	for _, s := range p.Spans {
		b = append(b, s.Text...)
		if s.Image != nil {
			b = append(b, "[image]"...)
		}
	}
	return string(b)
}

// Images returns the images in a prompt, in order.
func (p Prompt) Images() []*Image {
	var all []*Image
	for _, s := range p.Spans {
		if s.Image != nil {
			all = append(all, s.Image)
		}
	}
	return all
}

// Span is text, the text of one special token, or one image. Unless Special is
// set, Text is tokenized without special tokens.
type Span struct {
	Text    string
	Special bool
	Image   *Image
}

// Image is an image in a prompt.
type Image struct {
	Picture *picture.Picture
	Message int // index of its message in the request
	Source  engine.Image
}

// Fail adds the place of the image in the request to an error.
func (i *Image) Fail(err error) *engine.Error {
	return i.Source.Refuse(err, i.Message)
}

// Spellings finds special-token text. Tokens of white space are left out: they
// structure no prompt.
func Spellings(control []string) *tokenizer.Spellings {
	return tokenizer.NewSpellings(slices.DeleteFunc(slices.Clone(control), func(s string) bool { return strings.TrimSpace(s) == "" }))
}
