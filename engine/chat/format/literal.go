package format

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// literalCall parses calls with a dictionary or keyword arguments:
// prefix NAME{k:v} or NAME(k=v).
type literalCall struct {
	prefix string
	style  *literalStyle
}

// literalStyle is how values are written.
type literalStyle struct {
	open, assign string
	end          string   // closes the arguments
	quotes       []string // around strings; the grammar uses the first
	escapes      bool     // strings have backslash escapes
	python       bool     // True, False and None
}

var (
	pythonStyle = &literalStyle{open: "(", assign: "=", end: ")", quotes: []string{`"`, "'"}, escapes: true, python: true}
	gemmaStyle  = &literalStyle{open: "{", assign: ":", end: "}", quotes: []string{`<|"|>`}}
	escapeStyle = &literalStyle{open: "{", assign: ":", end: "}", quotes: []string{"<escape>"}}
)

func (l literalCall) head(b []byte, tools Tools) (head, verdict) {
	var h head
	at := spaces(b)
	if v := begins(b[at:], l.prefix); v != yes {
		return h, v
	}
	at += len(l.prefix)
	size := strings.Index(string(b[at:min(len(b), at+maxHead)]), l.style.open)
	if size < 0 {
		if len(b)-at > maxHead {
			return h, no
		}
		return h, perhaps
	}
	h.name = strings.TrimSpace(string(b[at : at+size]))
	if tools.knows(h.name) == no {
		return h, no
	}
	h.size = at + size + len(l.style.open)
	h.body = newLiteralBody(l.style, tools[h.name])
	return h, yes
}

// literalBody converts literals to JSON as they stream.
type literalBody struct {
	style   *literalStyle
	tool    *tool
	strings *delimiters   // that begin a string
	ends    []*delimiters // that end it or an escape, by quotes
	closers []byte        // of the open brackets, as JSON
	quote   int           // index of the open string's quotes; -1: outside
	word    []byte        // an incomplete number, literal or bare key
	comma   bool          // to write before the next item
	key     bool          // a key comes next
	opened  bool          // the opening brace is written
	count   int           // arguments so far
}

func newLiteralBody(style *literalStyle, t *tool) *literalBody {
	l := &literalBody{style: style, tool: t, closers: []byte{'}'}, quote: -1, key: true}
	var all []delimiter
	for _, q := range style.quotes {
		all = append(all, delimiter{text: q})
		ends := []delimiter{{text: q}}
		if style.escapes {
			ends = append(ends, delimiter{text: `\`})
		}
		l.ends = append(l.ends, newDelimiters(ends))
	}
	l.strings = newDelimiters(all)
	return l
}

func (l *literalBody) read(b []byte, final bool, out *writer) (int, bool) {
	at := 0
	if !l.opened {
		l.opened = true
		out.callArguments([]byte{'{'})
	}
	for at < len(b) {
		var n int
		var v verdict
		if l.quote >= 0 {
			n, v = l.inString(b[at:], final, out)
		} else {
			n, v = l.outside(b[at:], final, out)
		}
		at += n
		switch {
		case v == perhaps:
			return at, false
		case len(l.closers) == 0:
			return at, true
		}
	}
	if final {
		l.endWord(out)
	}
	return at, false
}

// inString reads a string up to its end or the next escape.
func (l *literalBody) inString(b []byte, final bool, out *writer) (int, verdict) {
	n, hit := l.ends[l.quote].find(b, final)
	out.callArguments(escape(b[:n]))
	switch {
	case hit == nil && n < len(b):
		return n, perhaps
	case hit == nil:
		return n, yes
	case hit.text == `\`:
		size, text, v := unescape(b[n:])
		if v == perhaps && !final {
			return n, perhaps
		}
		out.callArguments(escape(text))
		return n + size, yes
	}
	out.callArguments([]byte{'"'})
	l.quote = -1
	return n + len(hit.text), yes
}

// unescape decodes the Python or JSON escape at the start of b.
func unescape(b []byte) (size int, text []byte, v verdict) {
	if len(b) < 2 {
		return len(b), nil, perhaps
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[b[1]]
	if digits == 0 {
		if i := strings.IndexByte("nrtbf0\n", b[1]); i >= 0 {
			return 2, []byte([]string{"\n", "\r", "\t", "\b", "\f", "\x00", ""}[i]), yes
		}
		return 2, b[1:2], yes // quotes, the backslash, and unknown escapes
	}
	if len(b) < 2+digits {
		return len(b), nil, perhaps
	}
	code, err := strconv.ParseUint(string(b[2:2+digits]), 16, 32)
	if err != nil {
		return 2, b[1:2], yes
	}
	return 2 + digits, utf8.AppendRune(nil, rune(code)), yes
}

// outside reads one byte, or the start of a string.
func (l *literalBody) outside(b []byte, final bool, out *writer) (int, verdict) {
	for i, q := range l.style.quotes {
		switch begins(b, q) {
		case yes:
			l.item(out)
			out.callArguments([]byte{'"'})
			l.quote = i
			return len(q), yes
		case perhaps:
			if !final {
				return 0, perhaps
			}
		}
	}
	switch c := b[0]; {
	case isSpace(c):
		if !l.key { // white space may precede the assignment sign
			l.endWord(out)
		}
	case c == ',':
		l.endWord(out)
		l.comma, l.key = true, l.closers[len(l.closers)-1] == '}'
	case c == ':' || c == '=' && l.style.assign == "=":
		l.endKey(out)
	case c == '{' || c == '[' || c == '(':
		l.item(out)
		closer := map[byte]byte{'{': '}', '[': ']', '(': ']'}[c]
		l.closers = append(l.closers, closer)
		l.key = closer == '}'
		out.callArguments([]byte{map[byte]byte{'}': '{', ']': '['}[closer]})
	case c == '}' || c == ']' || c == ')':
		l.endWord(out)
		last := len(l.closers) - 1
		out.callArguments(l.closers[last:])
		l.closers, l.comma, l.key = l.closers[:last], false, false
	default:
		l.word = append(l.word, c)
	}
	return 1, yes
}

// item writes what precedes a key or a value: the comma, and the name of a
// positional argument.
func (l *literalBody) item(out *writer) {
	if l.comma {
		out.callArguments([]byte(", "))
		l.comma = false
	}
	if l.key && len(l.closers) == 1 && l.style.python {
		l.positional(out)
	}
}

// positional writes the name of a positional argument.
func (l *literalBody) positional(out *writer) {
	if l.count < len(l.tool.parameters) {
		out.callArguments([]byte(quote(l.tool.parameters[l.count].name) + ": "))
	}
	l.count++
	l.key = false
}

// endKey writes a bare key and the colon. A quoted key is already written.
func (l *literalBody) endKey(out *writer) {
	if len(l.word) > 0 {
		if l.comma {
			out.callArguments([]byte(", "))
			l.comma = false
		}
		out.callArguments([]byte(quote(string(l.word))))
		l.word = l.word[:0]
	}
	out.callArguments([]byte(": "))
	l.key = false
	if len(l.closers) == 1 {
		l.count++
	}
}

// endWord writes a number, a literal or an unquoted string.
func (l *literalBody) endWord(out *writer) {
	if len(l.word) == 0 {
		return
	}
	if l.key && !l.style.python { // a key without a value
		l.endKey(out)
		out.callArguments([]byte("null"))
		return
	}
	word := string(l.word)
	l.word = l.word[:0]
	l.item(out)
	switch word {
	case "True", "False":
		word = strings.ToLower(word)
	case "None":
		word = "null"
	default:
		if !json.Valid([]byte(word)) {
			word = quote(word)
		}
	}
	out.callArguments([]byte(word))
}

// grammar has the arguments in schema order; only the required ones must be there.
func (l literalCall) grammar(t *tool) grammar.Node {
	s := l.style
	return grammar.Seq(grammar.Literal(l.prefix+t.name+s.open), s.list(t.parameters), grammar.Literal(s.end))
}

// list is the arguments, with commas between those present. It is built from the
// last to the first so that the grammar stays linear in the number of arguments:
// a tool may have thousands.
func (s *literalStyle) list(parameters []*parameter) grammar.Node {
	comma := ","
	if s.python {
		comma = ", "
	}
	first := grammar.Literal("")  // the remaining arguments if none was written
	behind := grammar.Literal("") // and if one was
	for _, p := range slices.Backward(parameters) {
		one := grammar.Seq(grammar.Literal(p.name+s.assign), s.value(p))
		next := grammar.Seq(grammar.Literal(comma), one)
		if p.required {
			first, behind = grammar.Seq(one, behind), grammar.Seq(next, behind)
		} else {
			first, behind = grammar.Choice(grammar.Seq(one, behind), first), grammar.Seq(grammar.Optional(next), behind)
		}
	}
	return first
}

// value is one value. In a syntax other than JSON, the content of objects and
// arrays is unconstrained.
func (s *literalStyle) value(p *parameter) grammar.Node {
	kind := p.kind
	if s.python {
		if kind == "boolean" {
			return grammar.Choice(grammar.Literal("True"), grammar.Literal("False"))
		}
		return p.json
	}
	quoted := func(n grammar.Node) grammar.Node {
		q := grammar.Literal(s.quotes[0])
		return grammar.Seq(q, n, q)
	}
	bracketed := func(open, end string) grammar.Node {
		return grammar.Seq(grammar.Literal(open), grammar.Until(end), grammar.Literal(end))
	}
	if words := p.words; len(words) > 0 {
		return quoted(grammar.Choice(words...))
	}
	switch kind {
	case "string":
		return quoted(grammar.Until(s.quotes[0]))
	case "integer", "number", "boolean", "null":
		return p.json
	case "object":
		return bracketed("{", "}")
	case "array":
		return bracketed("[", "]")
	}
	return grammar.Until(",", "}")
}
