package control

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// Only the template writes special tokens, never a client. So they are found in
// the template's source, not in the prompt: at compile time, special-token text in
// the source's literals is replaced by placeholders, runes of a private plane of
// Unicode. After rendering, the placeholders are the special tokens, and
// everything else is text, whatever the template did to it. A client's own runes
// of that plane are masked before rendering.
//
// Some templates concatenate special tokens: '<|' ~ role ~ '|>'. There the first
// character is a placeholder, and if special-token text starts at it in the prompt
// that is the token, unless a client's text is part of it. For such templates a
// [Mask] also masks what could complete a token in the client's text.

// The private plane.
const (
	firstPlaceholder = 0x100000
	lastPlaceholder  = 0x10fffd
)

// privateLead is the first UTF-8 byte of all placeholders.
const privateLead = 0xf4

// Tokens are the special tokens that a model's template writes, and what the
// template does with strings. They do not change once the template is compiled.
type Tokens struct {
	spellings *tokenizer.Spellings
	marks     []ownMark // by placeholder, from firstPlaceholder on
	runes     map[ownMark]rune

	missing   []string             // ends of special tokens that the template begins
	endings   *tokenizer.Spellings // of missing; nil: the template concatenates none
	cuts      []string             // where it may split a client's text
	slices    bool                 // it slices texts at any offset
	names     map[string]bool      // attributes it reads, and texts it compares with
	foldsCase bool                 // it changes the case of texts
	ascii     bool                 // it writes JSON with ensure_ascii
}

// ownMark is what a placeholder of the template stands for.
type ownMark struct {
	text  string
	begun bool // the first character of a concatenated special token
}

// maxMarks limits the placeholders of a template.
const maxMarks = 1 << 12

// NewTokens returns the special tokens of a model, before its template is read.
func NewTokens(control []string) *Tokens {
	return &Tokens{spellings: prompt.Spellings(control), runes: map[ownMark]rune{}, names: map[string]bool{}}
}

// Use is what a template does with a literal.
type Use int

const (
	Printed  Use = iota // may be written to the prompt
	Compared            // searched for, compared, or a key
)

// EncodeSpecial replaces the special tokens in a literal of the template by placeholders.
func (s *Tokens) EncodeSpecial(literal string, use Use) string {
	if s.Empty() || literal == "" {
		return literal
	}
	if use == Compared {
		s.CutsAt(literal)
		s.AsksFor(literal)
		if isWord(literal) { // the role "user" may be a special token as well
			return literal
		}
	}
	var b strings.Builder
	done := 0
	for from, to := range s.spellings.Find(literal) {
		b.WriteString(literal[done:from])
		b.WriteString(s.place(ownMark{text: literal[from:to]}))
		done = to
	}
	rest := literal[done:]
	if use == Printed {
		rest = s.begin(rest)
	}
	return b.String() + rest
}

// begin replaces the first characters of special tokens that continue after the
// text, or at a format verb in it.
func (s *Tokens) begin(text string) string {
	var b strings.Builder
	done := 0
	for i, r := range text {
		if !s.spellings.Begin(text[i]) || !s.begins(text[i:]) {
			continue
		}
		b.WriteString(text[done:i])
		b.WriteString(s.place(ownMark{text: string(r), begun: true}))
		done = i + utf8.RuneLen(r)
	}
	return b.String() + text[done:]
}

// begins reports whether text begins a special token, and notes the missing ends.
// Words do not count: templates concatenate markup, not letters.
func (s *Tokens) begins(text string) bool {
	begun := false
	for n := 1; n <= len(text) && s.spellings.Prefix(text[:n]); n++ {
		if n < len(text) && text[n] != '%' && text[n] != '{' || isWord(text[:n]) {
			continue
		}
		for end := range s.spellings.Completed(text[:n]) {
			s.missing = append(s.missing, end)
			begun = true
		}
	}
	return begun
}

// place is the placeholder of a mark, as text.
func (s *Tokens) place(m ownMark) string {
	r, ok := s.runes[m]
	if !ok {
		if len(s.marks) == maxMarks {
			return m.text
		}
		r = firstPlaceholder + rune(len(s.marks))
		s.runes[m] = r
		s.marks = append(s.marks, m)
	}
	return string(r)
}

// mark is what a placeholder stands for.
func (s *Tokens) mark(r rune) (ownMark, bool) {
	if i := int(r) - firstPlaceholder; i >= 0 && i < len(s.marks) {
		return s.marks[i], true
	}
	return ownMark{}, false
}

// Empty reports whether the model has no special tokens.
func (s *Tokens) Empty() bool { return s.spellings.Len() == 0 }

// CutsAnywhere notes that the template slices texts.
func (s *Tokens) CutsAnywhere() { s.slices = true }

// CutsAt notes that the template may split a text at this one.
func (s *Tokens) CutsAt(text string) { s.cuts = append(s.cuts, text) }

// FoldCase notes that the template changes the case of texts.
func (s *Tokens) FoldCase() { s.foldsCase = true }

// AsksFor notes a name or literal that the template reads or compares with.
func (s *Tokens) AsksFor(name string) { s.names[name] = true }

// Finish ends the scan of a source. ascii: it writes JSON with ensure_ascii.
func (s *Tokens) Finish(ascii bool) {
	s.ascii = ascii
	s.runes = nil
	if len(s.missing) == 0 {
		return
	}
	if s.foldsCase {
		for i, end := range s.missing {
			s.missing[i], _ = folded(end)
		}
	}
	slices.Sort(s.missing)
	s.missing = slices.Compact(s.missing)
	s.endings = tokenizer.NewSpellings(s.missing)
	slices.Sort(s.cuts)
	s.cuts = slices.DeleteFunc(slices.Compact(s.cuts), func(c string) bool { return c == "" })
}

// asked reports whether a client's text is a name of the template and no part of
// a special token.
func (s *Tokens) asked(text string) bool {
	return s.names[text] && s.endings.Agrees(text) < len(text) && s.endings.Longest(text) == 0
}

// completes returns how many bytes of text from i on could complete a special
// token: a whole missing end, or a part of one between two offsets where the
// template may split the text.
func (s *Tokens) completes(text string, i int) int {
	rest := text[i:]
	if n := s.endings.Longest(rest); n > 0 {
		return n
	}
	n := s.endings.Agrees(rest)
	if n == 0 || s.slices {
		return n
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	behind, _ := utf8.DecodeRuneInString(rest[n:])
	starts := i == 0 || unicode.IsSpace(before)
	ends := n == len(rest) || unicode.IsSpace(behind)
	for _, c := range s.cuts {
		starts = starts || strings.HasSuffix(text[:i], c)
		ends = ends || strings.HasPrefix(rest[n:], c)
	}
	if starts && ends {
		return n
	}
	return 0
}

// isWord reports whether a text has only letters, digits, space, "_", "-" and ".".
func isWord(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. ", r)
	}) < 0
}

// folded is a case-folded text, and for each of its bytes the offset in the
// original.
func folded(text string) (string, []int) {
	var b strings.Builder
	var places []int
	for i, r := range text {
		b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		for len(places) < b.Len() {
			places = append(places, i)
		}
	}
	return b.String(), places
}
