package control

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/tokenizer"
)

// The template writes control tokens, and nothing that a client sends becomes
// one. So which tokens a prompt has is read out of the template's source, not
// out of the prompt: when a template is compiled, each spelling in a text that
// it can write is replaced by a rune out of a private plane, and after
// rendering these runes, and no others, are control tokens. Whatever else is in
// the prompt is text, wherever it comes from and whatever was done to it. A
// client's own runes of that plane are replaced by others before rendering.
//
// Some templates put a spelling together out of parts: '<|' ~ role ~ '|>'. The
// character that such a spelling begins with is a rune of its own, and a
// spelling that stands in the prompt from there on is that token, unless a
// client's text is a part of it. For such templates, therefore, what could
// complete a spelling is made known in a client's texts too, see [Mask].

// The private plane.
const (
	firstPlaceholder = 0x100000
	lastPlaceholder  = 0x10fffd
)

// privateLead is the first byte of every rune of the private plane in UTF-8.
const privateLead = 0xf4

// Tokens are the control tokens of one model as its template writes them.
// They do not change once the template is compiled.
type Tokens struct {
	spellings *tokenizer.Spellings
	marks     []ownMark // what the runes from firstPlaceholder on stand for
	runes     map[ownMark]rune

	missing   []string             // ends of spellings that the template begins
	endings   *tokenizer.Spellings // of missing; nil: the template writes its spellings whole
	cuts      []string             // texts at which it may cut a client's
	slices    bool                 // it cuts texts at any place
	names     map[string]bool      // what it asks for by name, or compares with
	foldsCase bool                 // it changes the case of letters
	ascii     bool                 // it writes JSON that is all ASCII
}

// ownMark is what a rune of the template's stands for.
type ownMark struct {
	text  string
	begun bool // a character that a spelling begins with, which something else may end
}

// maxMarks bounds the part of the plane that is the template's.
const maxMarks = 1 << 12

// NewTokens makes the set of a model's control tokens.
func NewTokens(control []string) *Tokens {
	return &Tokens{spellings: prompt.Spellings(control), runes: map[ownMark]rune{}, names: map[string]bool{}}
}

// Use is what a template does with a text in its source.
type Use int

const (
	Printed  Use = iota // it may be written
	Compared            // it is looked for, or is the name of something
)

// Own replaces the spellings in a text of the template's.
func (s *Tokens) Own(literal string, use Use) string {
	if s.Empty() || literal == "" {
		return literal
	}
	if use == Compared {
		s.CutsAt(literal)
		s.AsksFor(literal)
		if isWord(literal) { // the role "user" may be a token as well
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

// begin replaces the characters with which spellings begin that end behind the
// text, or where a format puts something in.
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

// begins reports whether text begins a spelling, and notes what it lacks. Nobody
// puts words together out of letters: what is begun is markup.
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

// place is the rune of a mark, as text.
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

// mark is what a rune stands for.
func (s *Tokens) mark(r rune) (ownMark, bool) {
	if i := int(r) - firstPlaceholder; i >= 0 && i < len(s.marks) {
		return s.marks[i], true
	}
	return ownMark{}, false
}

// Empty reports whether the model has no control tokens.
func (s *Tokens) Empty() bool { return s.spellings.Len() == 0 }

// CutsAnywhere says that the template cuts texts at any place.
func (s *Tokens) CutsAnywhere() { s.slices = true }

// CutsAt says that the template may cut a text where this one is in it.
func (s *Tokens) CutsAt(text string) { s.cuts = append(s.cuts, text) }

// FoldCase says that the template changes the case of letters.
func (s *Tokens) FoldCase() { s.foldsCase = true }

// AsksFor says that the template asks for something by name.
func (s *Tokens) AsksFor(name string) { s.names[name] = true }

// Finish ends the reading of a source. ascii says that it writes JSON that is
// all ASCII.
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

// asked reports whether a client's whole text is a name that the template asks
// for, and no part of a spelling.
func (s *Tokens) asked(text string) bool {
	return s.names[text] && s.endings.Agrees(text) < len(text) && s.endings.Longest(text) == 0
}

// completes says how many bytes of text, from place i on, could be what is
// missing to a spelling: all of an end, or a part of one between two places
// where the template may cut the text. 0: none.
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

// isWord reports whether a text has letters, digits and what joins them alone.
func isWord(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. ", r)
	}) < 0
}

// folded is a text without the difference of small and capital letters, and for
// each of its bytes the place in the text that it stands for.
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
