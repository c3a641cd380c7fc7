package chat

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Nothing that a client sends may become a control token. So before a client's
// string goes into a template, one rune of every control spelling in it is
// replaced by a placeholder out of a private plane (and so are the client's own
// runes of that plane); after rendering the rune is put back as a span of its own, marked Plain. The
// tokenizer then never sees the spelling in one piece. That holds even for
// tokens that llama.cpp finds in plain text too (those of type user-defined),
// and it leaves most of the string as it is for templates that look into it.
//
// A spelling can also be completed by what comes next to the string: by text
// of the template, by the next string of the client, or because the template
// takes something out of the middle. Those cases are masked as well.

// The private plane that placeholders come from.
const (
	firstPlaceholder = 0x100000
	lastPlaceholder  = 0x10fffd
)

// spellings are the control tokens of one model, and what its template says
// about them. They do not change.
type spellings struct {
	sorted  []string
	first   [256]bool // bytes that a spelling begins with
	starts  []string  // ends of spellings whose beginning stands at the end of a literal of the template
	removed []string  // text that the template may take out of a string
	ascii   bool      // the template writes JSON that is all ASCII
}

func newSpellings(control []string, source lexed) *spellings {
	s := &spellings{removed: source.removed, ascii: source.ascii}
	for _, c := range control {
		if strings.TrimSpace(c) == "" { // white space is no structure, in any vocabulary
			continue
		}
		s.sorted = append(s.sorted, c)
		s.first[c[0]] = true
	}
	slices.Sort(s.sorted)
	s.sorted = slices.Compact(s.sorted)
	s.starts = s.completions(source.literals)
	return s
}

// completions lists the ends of spellings that a literal of the template
// begins: "im_end|>" where the template writes "<|" and then a variable.
func (s *spellings) completions(literals []string) []string {
	var ends []string
	for _, literal := range literals {
		for i := max(0, len(literal)-maxSpelling); i < len(literal); i++ {
			if !s.first[literal[i]] {
				continue
			}
			lo, hi := s.narrow(literal[i:])
			for _, c := range s.sorted[lo:hi] {
				if end := c[len(literal)-i:]; end != "" {
					ends = append(ends, end)
				}
			}
		}
	}
	slices.Sort(ends)
	return slices.Compact(ends)
}

// maxSpelling bounds the part of a literal that is looked at; no vocabulary
// has a control token that is longer.
const maxSpelling = 256

// narrow returns the range of sorted whose spellings begin with prefix.
func (s *spellings) narrow(prefix string) (int, int) {
	lo := sort.SearchStrings(s.sorted, prefix)
	hi := lo + sort.Search(len(s.sorted)-lo, func(i int) bool { return !strings.HasPrefix(s.sorted[lo+i], prefix) })
	return lo, hi
}

// at returns how many bytes of text, which must not be empty, belong to a
// spelling that begins there: a whole one, or a part that the end of text
// cuts short. 0: none.
func (s *spellings) at(text string) int {
	lo, hi := 0, len(s.sorted)
	for n := range len(text) {
		c := text[n]
		part := s.sorted[lo:hi]
		from := sort.Search(len(part), func(i int) bool { return len(part[i]) > n && part[i][n] >= c })
		to := from + sort.Search(len(part)-from, func(i int) bool { return part[from+i][n] > c })
		lo, hi = lo+from, lo+to
		if lo == hi {
			return 0
		}
		if len(s.sorted[lo]) == n+1 {
			return n + 1
		}
	}
	return len(text)
}

// masker masks the strings of one request. It is not safe for concurrent use.
type masker struct {
	*spellings
	placeholders map[string]rune // by the text that they stand for
	original     map[rune]string // and back
	images       map[rune]*Image // those that stand for an image
}

func newMasker(s *spellings) *masker { return &masker{spellings: s} }

// mask hides what could become a control token in a client's string.
func (m *masker) mask(text string) string {
	if text == "" {
		return text
	}
	marked := m.find(text)
	if len(marked) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for _, i := range marked {
		if i < done { // marked twice
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[done:i])
		b.WriteRune(m.placeholder(text[i : i+size]))
		done = i + size
	}
	b.WriteString(text[done:])
	return b.String()
}

// find returns the offsets of the runes to mask, in order.
func (m *masker) find(text string) []int {
	var marked []int
	strict := slices.ContainsFunc(m.removed, func(r string) bool { return strings.Contains(text, r) })
	for _, end := range m.starts {
		if strings.HasPrefix(text, end) || strings.HasPrefix(end, text) {
			marked = append(marked, 0)
			break
		}
	}
	for i := range len(text) {
		switch {
		case text[i] == privateLead: // the client's own private rune must not read as a placeholder
			if r, _ := utf8.DecodeRuneInString(text[i:]); r >= firstPlaceholder {
				marked = append(marked, i)
			}
		case m.first[text[i]]:
			n := m.at(text[i:])
			if n == 0 && strict {
				n = 1
			}
			if n > 0 {
				marked = append(marked, i+steady(text[i:i+n]))
			}
		}
	}
	slices.Sort(marked)
	return marked
}

// steady is the offset of the rune of a spelling that a template is least
// likely to look for, quote or escape on its way into the prompt: a letter,
// or else what is neither space nor a quote.
func steady(spelling string) int {
	other := -1
	for i, r := range spelling {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return i
		case other < 0 && r > ' ' && !strings.ContainsRune(`"'\&`, r):
			other = i
		}
	}
	return max(0, other)
}

// placeholder returns the rune that stands for text. A request that uses up
// the whole plane gets U+FFFD for the rest.
func (m *masker) placeholder(text string) rune {
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

// image returns the rune that stands for an image. A client's own rune is
// never one: it is masked like a control token.
func (m *masker) image(i *Image) rune {
	r := m.free()
	if m.images == nil {
		m.images = map[rune]*Image{}
	}
	if r != utf8.RuneError {
		m.images[r] = i
	}
	return r
}

// free returns a rune that stands for nothing yet, or U+FFFD.
func (m *masker) free() rune {
	r := firstPlaceholder + rune(len(m.original)+len(m.images))
	if r >= lastPlaceholder { // the last one is taken, see continuation
		return utf8.RuneError
	}
	return r
}

// spans cuts a rendered prompt at its placeholders and puts the client's text
// and images back.
func (m *masker) spans(prompt string) []Span {
	if m.ascii {
		prompt = m.readEscapes(prompt)
	}
	var spans []Span
	done := 0
	if len(m.original)+len(m.images) > 0 {
		for i := strings.IndexByte(prompt, privateLead); i >= 0; {
			r, size := utf8.DecodeRuneInString(prompt[i:])
			next := i + size
			if span, ok := m.span(r); ok {
				if i > done {
					spans = append(spans, Span{Text: prompt[done:i]})
				}
				spans = append(spans, span)
				done = next
			}
			n := strings.IndexByte(prompt[next:], privateLead)
			if n < 0 {
				break
			}
			i = next + n
		}
	}
	if done < len(prompt) {
		spans = append(spans, Span{Text: prompt[done:]})
	}
	return spans
}

// span is what a placeholder stands for.
func (m *masker) span(r rune) (Span, bool) {
	if original, ok := m.original[r]; ok {
		return Span{Text: original, Plain: true}, true
	}
	image, ok := m.images[r]
	return Span{Image: image}, ok
}

// escapedPlaceholder is a rune of the private plane in JSON that is all ASCII.
var escapedPlaceholder = regexp.MustCompile(`\\udb[c-f][0-9a-f]\\ud[c-f][0-9a-f]{2}`)

// readEscapes undoes the escapes of placeholders. Text that is not ASCII is
// escaped itself then, as the template would have done.
func (m *masker) readEscapes(prompt string) string {
	return escapedPlaceholder.ReplaceAllStringFunc(prompt, func(escape string) string {
		high, err1 := strconv.ParseUint(escape[2:6], 16, 16)
		low, err2 := strconv.ParseUint(escape[8:12], 16, 16)
		if err1 != nil || err2 != nil {
			return escape
		}
		placeholder := utf16.DecodeRune(rune(high), rune(low))
		original, _ := utf8.DecodeRuneInString(m.original[placeholder])
		switch {
		case m.images[placeholder] != nil:
			return string(placeholder)
		case m.original[placeholder] == "":
			return escape
		case original < utf8.RuneSelf:
			return string(placeholder)
		case original <= 0xffff:
			return fmt.Sprintf(`\u%04x`, original)
		}
		high16, low16 := utf16.EncodeRune(original)
		return fmt.Sprintf(`\u%04x\u%04x`, high16, low16)
	})
}

// unmask puts the client's text back without telling it apart.
func (m *masker) unmask(text string) string {
	return Prompt{Spans: m.spans(text)}.String()
}

// privateLead is the first byte of every rune of the private plane in UTF-8.
const privateLead = 0xf4
