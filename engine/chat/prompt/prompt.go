// Package prompt has what stands between a chat template and a model: a prompt
// as runs of text, control tokens and images. Which of its characters are
// control tokens is said by the [Span] that they are in, never by how they are
// spelled.
package prompt

import (
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/picture"
)

// Prompt is a rendered prompt, in order. Request is what it was rendered
// from: a script picks its reply by it.
type Prompt struct {
	Spans   []Span
	Request *engine.Request
}

// String is the prompt as the model sees it, with [image] for each image.
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

// Images are the images in a prompt, in their order there.
func (p Prompt) Images() []*Image {
	var all []*Image
	for _, s := range p.Spans {
		if s.Image != nil {
			all = append(all, s.Image)
		}
	}
	return all
}

// Span is a run of prompt text, a control token by its spelling, or one image.
// Where Special is not set, no control token is in the text, whatever it spells.
type Span struct {
	Text    string
	Special bool
	Image   *Image
}

// Image is an image in a prompt.
type Image struct {
	Picture *picture.Picture
	Message int // the message of the request that it is in
	Source  engine.Image
}

// Fail is the error of an image, with its place in the request.
func (i *Image) Fail(err error) *engine.Error {
	return i.Source.Refuse(err, i.Message)
}

// Spellings are control tokens to look for in a text. It leaves out white space,
// which is no structure in any vocabulary.
func Spellings(control []string) *tokenizer.Spellings {
	return tokenizer.NewSpellings(slices.DeleteFunc(slices.Clone(control), func(s string) bool { return strings.TrimSpace(s) == "" }))
}
