package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// statements rewrites the tags of a template.
type statements struct {
	names guards
	loops bool // the template has a recursive loop
	depth int
}

// output rewrites an output tag.
func (s *statements) output(body string) (string, error) {
	text, err := s.names.translate(body, s.loops)
	if err != nil {
		return "", err
	}
	return "{{ " + s.names.name(guardOutput) + "(" + text + ") }}", nil
}

// cutKeyword cuts the first word off a statement.
func cutKeyword(body string) (keyword, rest string) {
	i := strings.IndexFunc(body, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	if i < 0 {
		return body, ""
	}
	return body[:i], strings.TrimSpace(body[i:])
}

// recurses reports whether a piece begins a recursive loop.
func (p templatePiece) recurses() bool {
	keyword, rest := cutKeyword(p.body)
	return p.kind == '%' && keyword == "for" && findKeyword(rest, "recursive") >= 0
}

// write rewrites a statement tag and adds its guards.
func (s *statements) write(body string) (string, error) {
	keyword, rest := cutKeyword(body)
	if err := s.nest(keyword, rest); err != nil {
		return "", err
	}
	var err error
	before, behind := "", ""
	switch keyword {
	case "raw", "endraw": // the text between them is already a literal
		return "", nil
	case "if", "elif":
		rest, err = s.names.translate(rest, s.loops)
	case "for":
		rest, behind, err = s.loop(rest)
	case "set":
		if target, value, ok := strings.Cut(rest, "="); ok {
			value, err = s.names.translate("("+value+")", s.loops)
			rest = target + "= " + value
		}
	case "macro":
		rest, err = s.macro(rest)
		behind = "{{ " + s.enter() + " }}"
	case "call":
		rest, err = s.call(rest)
		behind = "{{ " + s.enter() + " }}"
	case "endmacro", "endcall":
		before = "{{ " + s.names.name(guardLeave) + "() }}"
	case "filter":
		rest, err = s.filter(rest)
	}
	return before + "{% " + strings.TrimSpace(keyword+" "+rest) + " %}" + behind, err
}

func (s *statements) enter() string { return s.names.name(guardEnter) + "()" }

// inside guards an expression that the library evaluates before the body of its
// loop or macro, so before the guard there.
func (s *statements) inside(text string) string {
	return s.names.name(guardInside) + "(" + s.enter() + ", " + text + ")"
}

// nest counts the nesting of statements.
func (s *statements) nest(keyword, rest string) error {
	opens := slices.Contains([]string{"if", "for", "macro", "call", "filter", "block", "generation"}, keyword) ||
		keyword == "set" && !strings.Contains(rest, "=")
	switch {
	case opens:
		s.depth++
	case strings.HasPrefix(keyword, "end"):
		s.depth = max(s.depth-1, 0)
	}
	if s.depth > maxBlocks {
		return fmt.Errorf("statements are more than %d deep inside each other", maxBlocks)
	}
	return nil
}

// loop rewrites what follows "for", split as the library does, and returns the
// guard of the body.
func (s *statements) loop(rest string) (text, begin string, err error) {
	in := findKeyword(rest, "in")
	if in < 0 {
		return "", "", fmt.Errorf("a loop has no \"in\"")
	}
	variables, items := rest[:in], rest[in+len("in"):]
	depth, ending, condition := "", "", ""
	if i := findKeyword(items, "recursive"); i >= 0 {
		items, ending, depth = items[:i], " recursive", "loop.depth"
	}
	if i := findKeyword(items, "if"); i >= 0 {
		if condition, err = s.names.translate(items[i+len("if"):], s.loops); err != nil {
			return "", "", err
		}
		items, condition = items[:i], " if "+s.inside(condition)
	}
	if items, err = s.names.translate(items, s.loops); err != nil {
		return "", "", err
	}
	text = variables + "in " + s.names.name(guardIterated) + "(" + items + ")" + condition + ending
	return text, "{{ " + s.names.name(guardStep) + "(" + depth + ") }}", nil
}

// macro rewrites what follows "macro": a name, and parameters, which may have
// defaults.
func (s *statements) macro(rest string) (string, error) {
	name, parameters, ok := strings.Cut(rest, "(")
	if !ok {
		return "", fmt.Errorf("a macro has no parameters")
	}
	t, err := s.names.translator(strings.TrimSuffix(parameters, ")"), s.loops)
	if err != nil {
		return "", err
	}
	var all []string
	for t.peek().kind != tokenEnd {
		k := t.next()
		if k.kind != tokenName {
			return "", fmt.Errorf("unexpected %q among the parameters of a macro", k.text)
		}
		parameter := k.text
		if t.accept("=") {
			w, err := t.expression()
			if err != nil {
				return "", err
			}
			parameter += "=" + s.inside(w.text)
		}
		all = append(all, parameter)
		if t.peek().kind != tokenEnd {
			if err := t.expect(","); err != nil {
				return "", err
			}
		}
	}
	return name + "(" + strings.Join(all, ", ") + ")", nil
}

// call rewrites what follows "call": the parameters of the body, and a call.
func (s *statements) call(rest string) (string, error) {
	names := ""
	if strings.HasPrefix(rest, "(") {
		end := strings.Index(rest, ")")
		if end < 0 {
			return "", fmt.Errorf("a bracket is not closed")
		}
		names, rest = rest[:end+1]+" ", rest[end+1:]
	}
	rest, err := s.names.translate(rest, s.loops)
	return names + rest, err
}

// filter rewrites what follows "filter": the filters of the body.
func (s *statements) filter(rest string) (string, error) {
	text, err := s.names.translate(filterBody+"|"+rest, s.loops)
	if err != nil {
		return "", err
	}
	filters, ok := strings.CutPrefix(text, filterBody+"|")
	if !ok {
		return "", fmt.Errorf("a filter block has more than filters")
	}
	return filters, nil
}

// findKeyword is the offset of a word in an expression, outside of brackets and
// strings, or -1.
func findKeyword(s, word string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'' || c == '"':
			i += quotedLength(s[i:]) - 1
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth == 0 && strings.HasPrefix(s[i:], word):
			after := i + len(word)
			if (i == 0 || !isNameByte(s[i-1])) && (after == len(s) || !isNameByte(s[after])) {
				return i
			}
		}
	}
	return -1
}
