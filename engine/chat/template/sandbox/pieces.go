package sandbox

import (
	"fmt"
	"strings"
)

// The library trims whitespace past adjacent tags: in
// `Effort: {{ x }}{%- endif %}` it removes the space after the colon. So the
// source is split into tags and text here, Jinja's whitespace rules are applied
// (with trim_blocks and lstrip_blocks, as transformers sets them), and each text is
// written back as an output tag with a string literal, which the library does not
// trim. Expressions and statements get their guards on the way.

// maxBrackets limits the nesting inside one tag: the library's parser recurses,
// and Go cannot recover from a stack overflow.
const maxBrackets = 200

// templatePiece is one part of a template source.
type templatePiece struct {
	kind        byte // 't' text, '{' output, '%' statement, '#' comment
	body        string
	left, right byte // '-', '+' or 0: the whitespace control of a tag
}

func quoteLiteral(text string) string { return "'" + literalQuoter.Replace(text) + "'" }

var literalQuoter = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\t", `\t`)

// cutTemplate splits a source at its tags.
func cutTemplate(source string) ([]templatePiece, error) {
	var pieces []templatePiece
	for source != "" {
		start := nextTag(source)
		if start > 0 {
			pieces = append(pieces, templatePiece{kind: 't', body: source[:start]})
			source = source[start:]
			continue
		}
		end, err := tagEnd(source)
		if err != nil {
			return nil, err
		}
		p := readTag(source[:end])
		pieces = append(pieces, p)
		source = source[end:]
		if p.kind == '%' && p.body == "raw" {
			length, ok := rawLength(source)
			if !ok {
				return nil, fmt.Errorf("a raw block is not closed")
			}
			pieces = append(pieces, templatePiece{kind: 't', body: source[:length]})
			source = source[length:]
		}
	}
	return pieces, nil
}

// nextTag is the offset of the next tag, or the length of s.
func nextTag(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '{' && (s[i+1] == '{' || s[i+1] == '%' || s[i+1] == '#') {
			return i
		}
	}
	return len(s)
}

// tagEnd is the offset after the tag that s starts with. A closing delimiter in
// quotes or brackets does not count, except in a comment.
func tagEnd(s string) (int, error) {
	if s[1] == '#' {
		if i := strings.Index(s[2:], "#}"); i >= 0 {
			return 2 + i + 2, nil
		}
		return 0, fmt.Errorf("a comment is not closed")
	}
	closing := "}}"
	if s[1] == '%' {
		closing = "%}"
	}
	depth := 0
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case depth == 0 && strings.HasPrefix(s[i:], closing):
			return i + 2, nil
		case c == '\'' || c == '"':
			i += quotedLength(s[i:]) - 1
		case c == '(' || c == '[' || c == '{':
			if depth++; depth > maxBrackets {
				return 0, fmt.Errorf("a tag nests brackets deeper than %d", maxBrackets)
			}
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return 0, fmt.Errorf("a tag is not closed: %.60q", s)
}

// quotedLength is the length of the string literal that s starts with.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// readTag parses a whole tag.
func readTag(s string) templatePiece {
	p := templatePiece{kind: s[1]}
	body := s[2 : len(s)-2]
	if body != "" && (body[0] == '-' || body[0] == '+') {
		p.left, body = body[0], body[1:]
	}
	if n := len(body); n > 0 && (body[n-1] == '-' || body[n-1] == '+' && p.kind != '{') {
		p.right, body = body[n-1], body[:n-1]
	}
	p.body = strings.TrimSpace(body)
	return p
}

// rawLength is the length of the text in front of {% endraw %}.
func rawLength(s string) (int, bool) {
	for i := 0; ; i += 2 {
		n := strings.Index(s[i:], "{%")
		if n < 0 {
			return 0, false
		}
		i += n
		inner := strings.TrimLeft(s[i+2:], "-+")
		if strings.HasPrefix(strings.TrimSpace(inner), "endraw") {
			return i, true
		}
	}
}

const jinjaSpace = " \t\n\r\f\v"

// trimBlocks applies Jinja's whitespace rules to the text around each tag.
func trimBlocks(pieces []templatePiece) {
	for i, p := range pieces {
		if p.kind == 't' || i == 0 || pieces[i-1].kind != 't' {
			continue
		}
		before := &pieces[i-1].body
		switch {
		case p.left == '-':
			*before = strings.TrimRight(*before, jinjaSpace)
		case p.left == 0 && p.kind != '{': // lstrip_blocks
			rest := strings.TrimRight(*before, " \t")
			if strings.HasSuffix(rest, "\n") || rest == "" && i == 1 {
				*before = rest
			}
		}
	}
	for i, p := range pieces {
		if p.kind == 't' || i+1 == len(pieces) || pieces[i+1].kind != 't' {
			continue
		}
		after := &pieces[i+1].body
		switch {
		case p.right == '-':
			*after = strings.TrimLeft(*after, jinjaSpace)
		case p.right == 0 && p.kind != '{': // trim_blocks
			*after = strings.TrimPrefix(*after, "\n")
		}
	}
}
