// Package control keeps the client's text in a prompt from becoming special
// tokens. [Tokens] are those that a template's source writes; each request has a
// [Mask] for its strings.
package control

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/chat/prompt"
)

// Mask masks the strings of one request, and makes the prompt of the rendered
// text. It is not safe for concurrent use.
//
// Masking replaces runes of the client's strings by placeholders: runes of the
// private plane, and one rune wherever the string could complete a special token
// that the template begins. After rendering they are restored.
type Mask struct {
	*Tokens
	placeholders map[string]rune        // by original text
	original     map[rune]string        // by placeholder
	images       map[rune]*prompt.Image // by placeholder
}

// Continuation stands for the text of the assistant turn that the answer
// continues: the prompt is cut there. Boundary marks the end of each text in a
// rendering that only locates the template's own words. Clients can write
// neither: both are masked.
const (
	Continuation = string(rune(lastPlaceholder))
	Boundary     = string(rune(lastPlaceholder - 1))
)

// NewMask returns the Mask of one request.
func NewMask(s *Tokens) *Mask { return &Mask{Tokens: s} }

// Text masks a client's string.
func (m *Mask) Text(text string) string {
	if m.endings == nil && strings.IndexByte(text, privateLead) < 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, i := range m.find(text) {
		if i < done { // found twice
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[done:i])
		b.WriteRune(m.placeholder(text[i : i+size]))
		done = i + size
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// find returns the offsets of the runes to replace, in order.
func (m *Mask) find(text string) []int {
	var found []int
	for i, r := range text {
		if r >= firstPlaceholder { // must not be taken for a placeholder
			found = append(found, i)
		}
	}
	if m.endings == nil || m.asked(text) {
		return found
	}
	looked, place := text, func(i int) int { return i }
	if m.foldsCase {
		var places []int
		looked, places = folded(text)
		place = func(i int) int { return places[i] }
	}
	for i := range looked {
		if !m.endings.Begin(looked[i]) {
			continue
		}
		if n := m.completes(looked, i); n > 0 {
			found = append(found, place(i+stableRune(looked[i:i+n])))
		}
	}
	slices.Sort(found)
	return found
}

// stableRune is the offset of the rune that a template is least likely to search for,
// quote or escape: a letter or digit, or else no space and no quote.
func stableRune(text string) int {
	other := -1
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return i
		case other < 0 && r > ' ' && !strings.ContainsRune(`"'\&`, r):
			other = i
		}
	}
	return max(0, other)
}

// placeholder returns the placeholder of text, or U+FFFD once all are used.
func (m *Mask) placeholder(text string) rune {
	if r, ok := m.placeholders[text]; ok {
		return r
	}
	r := m.free()
	if r == utf8.RuneError {
		return r
	}
	if m.placeholders == nil {
		m.placeholders, m.original = map[string]rune{}, map[rune]string{}
	}
	m.placeholders[text], m.original[r] = r, text
	return r
}

// Image returns the placeholder of an image.
func (m *Mask) Image(i *prompt.Image) rune {
	r := m.free()
	if m.images == nil {
		m.images = map[rune]*prompt.Image{}
	}
	if r != utf8.RuneError {
		m.images[r] = i
	}
	return r
}

// free returns an unused placeholder, or U+FFFD.
func (m *Mask) free() rune {
	r := firstPlaceholder + rune(len(m.marks)+len(m.original)+len(m.images))
	if r >= lastPlaceholder-1 { // Boundary and Continuation
		return utf8.RuneError
	}
	return r
}

// Spans splits a rendered text into special tokens, images and text.
func (m *Mask) Spans(text string) []prompt.Span {
	if m.ascii {
		text = m.readEscapes(text)
	}
	var p assembly
	done := 0
	for i := strings.IndexByte(text, privateLead); i >= 0; {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		if m.known(r) {
			p.write(text[done:i])
			m.add(&p, r)
			done = next
		}
		n := strings.IndexByte(text[next:], privateLead)
		if n < 0 {
			break
		}
		i = next + n
	}
	p.write(text[done:])
	p.flush(m.Tokens)
	return p.spans
}

func (m *Mask) known(r rune) bool {
	if _, ok := m.mark(r); ok {
		return true
	}
	_, text := m.original[r]
	_, image := m.images[r]
	return text || image
}

// add appends what a placeholder stands for.
func (m *Mask) add(p *assembly, r rune) {
	if mark, ok := m.mark(r); ok {
		if mark.begun {
			p.begun = append(p.begun, p.length)
			p.write(mark.text)
			return
		}
		p.flush(m.Tokens)
		p.spans = append(p.spans, prompt.Span{Text: mark.text, Special: true})
		return
	}
	if image, ok := m.images[r]; ok {
		p.flush(m.Tokens)
		p.spans = append(p.spans, prompt.Span{Image: image})
		return
	}
	p.clients = append(p.clients, p.length)
	p.write(m.original[r])
}

// assembly builds the spans of a prompt.
type assembly struct {
	spans   []prompt.Span
	parts   []string // of the text since the last span
	length  int      // of that text
	begun   []int    // offsets in it where a special token may begin
	clients []int    // offsets in it of the client's runes, in order
}

func (p *assembly) write(text string) {
	if text != "" {
		p.parts = append(p.parts, text)
		p.length += len(text)
	}
}

// flush makes spans of the text and finds the special tokens in it that the
// template concatenated.
func (p *assembly) flush(s *Tokens) {
	text := strings.Join(p.parts, "")
	done := 0
	for _, at := range p.begun {
		if at < done {
			continue
		}
		end := len(text) // no client's rune before
		for len(p.clients) > 0 && p.clients[0] < at {
			p.clients = p.clients[1:]
		}
		if len(p.clients) > 0 {
			end = p.clients[0]
		}
		n := s.spellings.Longest(text[at:end])
		if n == 0 {
			continue
		}
		if at > done {
			p.spans = append(p.spans, prompt.Span{Text: text[done:at]})
		}
		p.spans = append(p.spans, prompt.Span{Text: text[at : at+n], Special: true})
		done = at + n
	}
	if done < len(text) {
		p.spans = append(p.spans, prompt.Span{Text: text[done:]})
	}
	p.parts, p.length, p.begun, p.clients = nil, 0, nil, nil
}

// escapedPlaceholder is a placeholder in JSON written with ensure_ascii.
var escapedPlaceholder = regexp.MustCompile(`\\udb[c-f][0-9a-f]\\ud[c-f][0-9a-f]{2}`)

// readEscapes unescapes placeholders. The text they stand for is escaped instead
// if it is not ASCII, as the template would have done.
func (m *Mask) readEscapes(prompt string) string {
	return escapedPlaceholder.ReplaceAllStringFunc(prompt, func(escape string) string {
		high, err1 := strconv.ParseUint(escape[2:6], 16, 16)
		low, err2 := strconv.ParseUint(escape[8:12], 16, 16)
		if err1 != nil || err2 != nil {
			return escape
		}
		placeholder := utf16.DecodeRune(rune(high), rune(low))
		if !m.known(placeholder) {
			return escape
		}
		original, _ := utf8.DecodeRuneInString(m.original[placeholder])
		switch {
		case m.original[placeholder] == "" || original < utf8.RuneSelf:
			return string(placeholder)
		case original <= 0xffff:
			return fmt.Sprintf(`\u%04x`, original)
		}
		high16, low16 := utf16.EncodeRune(original)
		return fmt.Sprintf(`\u%04x\u%04x`, high16, low16)
	})
}

// Unmask restores the text of a rendering.
func (m *Mask) Unmask(text string) string {
	return prompt.Prompt{Spans: m.Spans(text)}.String()
}
