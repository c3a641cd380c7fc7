package sandbox

import (
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine/chat/template/control"
)

// encodeTag replaces the special tokens in the string literals of a Jinja tag by
// placeholders.
func encodeTag(s *control.Tokens, body string) string {
	if s.Empty() {
		return body
	}
	var b strings.Builder
	r := tagReader{Tokens: s}
	done := 0
	for i := 0; i < len(body); {
		n := tagToken(body[i:])
		if c := body[i]; c == '\'' || c == '"' {
			literal := unquote(body[i+1 : max(i+1, i+n-1)])
			own := s.EncodeSpecial(literal, r.use(body[i+n:]))
			r.cut(literal)
			if own != literal {
				b.WriteString(body[done:i] + quoteLiteral(own))
				done = i + n
			}
		}
		r.read(body[i : i+n])
		i += n
	}
	return b.String() + body[done:]
}

// tagToken is the length of the token at the start of s: white space, a name or
// number, a string, or an operator.
func tagToken(s string) int {
	class := func(c byte) int {
		switch {
		case strings.IndexByte(jinjaSpace, c) >= 0:
			return 1
		case isNameByte(c):
			return 2
		}
		return 0
	}
	if s[0] == '\'' || s[0] == '"' {
		return quotedLength(s)
	}
	if len(s) > 1 && (s[:2] == "==" || s[:2] == "!=") {
		return 2
	}
	n := 1
	if first := class(s[0]); first > 0 {
		for n < len(s) && class(s[n]) == first {
			n++
		}
	}
	return n
}

// tagReader tracks the position in a tag.
type tagReader struct {
	*control.Tokens
	last, before string // the last two tokens that are not white space
	open         []tagBracket
}

// tagBracket is a bracket that is not closed yet.
type tagBracket struct {
	sign     string
	callee   string // of ( and [: the name before it; "]" for another value
	method   bool   // callee follows a dot
	listed   bool   // follows "in"
	argument int    // index of the current argument
}

func (r *tagReader) read(token string) {
	if strings.Trim(token, jinjaSpace) == "" {
		return
	}
	top := len(r.open) - 1
	switch token {
	case "(", "[", "{":
		bracket := tagBracket{sign: token, listed: r.last == "in"}
		switch {
		case isTagName(r.last) && !slices.Contains([]string{"in", "if", "else", "and", "or", "not", "is"}, r.last):
			bracket.callee, bracket.method = r.last, r.before == "."
		case r.last == "]" || r.last == ")":
			bracket.callee = "]"
		}
		r.open = append(r.open, bracket)
	case ")", "]", "}":
		if top >= 0 {
			r.open = r.open[:top]
		}
	case ",":
		if top >= 0 {
			r.open[top].argument++
		}
	case ":":
		if top >= 0 && r.open[top].sign == "[" && !strings.HasSuffix(r.open[top].callee, "messages") {
			r.CutsAnywhere()
		}
	case "upper", "lower", "title", "capitalize", "swapcase", "casefold":
		r.FoldCase()
	}
	if r.last == "." {
		r.AsksFor(token)
	}
	r.before, r.last = r.last, token
}

func isTagName(token string) bool {
	return token != "" && tagToken(token) == len(token) && (token[0] == '_' || token[0]|0x20 >= 'a' && token[0]|0x20 <= 'z')
}

// Methods and filters that search for their arguments and do not print them.
var (
	searchMethods = []string{"get", "split", "rsplit", "startswith", "endswith", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix",
		"partition", "rpartition", "find", "rfind", "index", "count", "pop"}
	searchFilters = []string{"selectattr", "rejectattr", "select", "reject", "map", "groupby", "sort", "dictsort", "attr", "equalto", "eq", "ne", "in"}
	strippers     = []string{"strip", "lstrip", "rstrip", "trim"}
)

// use is the use of a string literal here; rest is the tag after it.
func (r *tagReader) use(rest string) control.Use {
	rest = strings.TrimLeft(rest, jinjaSpace)
	next := ""
	if rest != "" {
		next = rest[:tagToken(rest)]
	}
	if slices.Contains([]string{"==", "!=", "in", "eq", "ne", "equalto", "sameas"}, r.last) ||
		slices.Contains([]string{"==", "!=", "in", "not"}, next) {
		return control.Compared
	}
	if len(r.open) == 0 {
		return control.Printed
	}
	b := r.open[len(r.open)-1]
	switch {
	case b.listed, b.sign == "{" && next == ":", b.sign == "[" && b.callee != "":
		return control.Compared
	case b.sign == "(" && b.method && slices.Contains(searchMethods, b.callee),
		b.sign == "(" && !b.method && slices.Contains(searchFilters, b.callee),
		b.sign == "(" && b.callee == "replace" && b.argument == 0:
		return control.Compared
	}
	return control.Printed
}

// cut notes a literal at which a client's text may be split.
func (r *tagReader) cut(literal string) {
	if len(r.open) == 0 {
		return
	}
	if slices.Contains(strippers, r.open[len(r.open)-1].callee) {
		for _, c := range literal {
			r.CutsAt(string(c))
		}
	}
}

// unquote decodes a string literal without its quotes, as the library does.
func unquote(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		text, n := readEscape(s[i+1:])
		b.WriteString(text)
		i += n
	}
	return b.String()
}

const simpleEscapes = "n\nt\tr\ra\ab\bf\fv\v\\\\''\"\""

// readEscape decodes what follows a backslash, and returns its length. Unknown
// escapes stay as they are.
func readEscape(s string) (string, int) {
	for i := 0; i < len(simpleEscapes); i += 2 {
		if s[0] == simpleEscapes[i] {
			return simpleEscapes[i+1 : i+2], 1
		}
	}
	start, width, base := 1, 0, 16
	switch c := s[0]; {
	case c == 'x':
		width = 2
	case c == 'u':
		width = 4
	case c == 'U':
		width = 8
	case c >= '0' && c <= '7':
		start, base = 0, 8
		for width < 3 && width < len(s) && s[width] >= '0' && s[width] <= '7' {
			width++
		}
	default:
		return `\` + s[:1], 1
	}
	if start+width <= len(s) {
		if r, err := strconv.ParseInt(s[start:start+width], base, 32); err == nil {
			return string(rune(r)), start + width
		}
	}
	return `\` + s[:1], 1
}
