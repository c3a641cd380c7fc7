package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// atom is a literal, a name, or something in brackets.
func (t *translator) atom() (written, error) {
	k := t.next()
	switch {
	case k.kind == tokenName:
		if strings.HasPrefix(k.text, hiddenFilter) && k.text != filterBody {
			return written{}, fmt.Errorf("there is no variable %q", k.text)
		}
		scalar := slices.Contains([]string{"None", "none", "null", "True", "true", "False", "false"}, k.text)
		return written{text: k.text, scalar: scalar}, nil
	case k.kind == tokenNumber, k.kind == tokenFloat:
		return written{text: k.text, scalar: true}, nil
	case k.kind == tokenText:
		text := k.text
		for t.peek().kind == tokenText { // neighbors are one
			text += " " + t.next().text
		}
		return written{text: text, scalar: true}, nil
	case k.is("("):
		return t.parentheses()
	case k.is("["):
		return t.list()
	case k.is("{"):
		return t.dict()
	case k.is("-"):
		w, err := t.atom()
		return written{text: "(-" + w.text + ")"}, err
	}
	return written{}, fmt.Errorf("unexpected %q", k.text)
}

// parentheses are around an expression, or a tuple.
func (t *translator) parentheses() (written, error) {
	if t.took(")") {
		return written{text: "()"}, nil
	}
	first, err := t.expression()
	if err != nil {
		return first, err
	}
	if t.took(")") {
		return written{text: "(" + first.text + ")", scalar: first.scalar}, nil
	}
	text := "(" + first.text + ","
	for t.took(",") && !t.peek().is(")") {
		w, err := t.expression()
		if err != nil {
			return w, err
		}
		text += w.text + ","
	}
	return written{text: text + ")"}, t.want(")")
}

// list is one in brackets, of which the first was taken. Commas may lack.
func (t *translator) list() (written, error) {
	var b strings.Builder
	for k := t.peek(); !k.is("]") && k.kind != tokenEnd; k = t.peek() {
		w, err := t.expression()
		if err != nil {
			return w, err
		}
		b.WriteString(w.text + ", ")
		t.took(",")
	}
	return written{text: "[" + b.String() + "]"}, t.want("]")
}

func (t *translator) dict() (written, error) {
	var b strings.Builder
	for k := t.peek(); !k.is("}") && k.kind != tokenEnd; k = t.peek() {
		key, err := t.expression()
		if err == nil {
			err = t.want(":")
		}
		if err != nil {
			return key, err
		}
		value, err := t.expression()
		if err != nil {
			return value, err
		}
		name := key.text
		if !key.scalar {
			name = t.call(guardOutput, name) // it becomes a text
		}
		b.WriteString(name + ": " + value.text + ", ")
		t.took(",")
	}
	return written{text: "{" + b.String() + "}"}, t.want("}")
}

// postfix is what stands behind a value: members, items, slices, calls, and
// filters and tests unless a sign is before the value.
func (t *translator) postfix(w written, filters bool) (written, error) {
	for {
		var err error
		switch {
		case t.took("."):
			w, err = t.member(w)
		case t.took("["):
			w, err = t.item(w)
		case t.took("("):
			w, err = t.invoke(w.text)
		case filters && t.took("|"):
			w, err = t.filter(w)
		case filters && t.took("is"):
			w, err = t.test(w)
		default:
			return w, nil
		}
		if err != nil {
			return w, err
		}
		if err := t.operator(); err != nil {
			return w, err
		}
	}
}

// member is a name behind a dot. Where it may be a method, what it is of is
// noted, and the method becomes one that counts.
func (t *translator) member(w written) (written, error) {
	k := t.next()
	if k.kind != tokenName && k.kind != tokenNumber {
		return w, fmt.Errorf("expected a name behind a dot, got %q", k.text)
	}
	if _, ok := methodCosts[k.text]; !ok {
		return written{text: w.text + "." + k.text}, nil
	}
	return written{text: t.call(guardMethod, "'"+k.text+"'", t.call(guardOwner, w.text)+"."+k.text)}, nil
}

// item is what stands in brackets behind a value: an index or a key, or a slice.
func (t *translator) item(w written) (written, error) {
	var parts []string // with the colons between them
	var key written
	for k := t.peek(); !k.is("]") && len(parts) < 5; k = t.peek() {
		if t.took(":") {
			parts = append(parts, ":")
			continue
		}
		if n := len(parts); n > 0 && parts[n-1] != ":" {
			break // want says what is wrong
		}
		var err error
		if key, err = t.expression(); err != nil {
			return w, err
		}
		parts = append(parts, key.text)
	}
	if len(parts) == 0 {
		return w, fmt.Errorf("nothing stands in the brackets behind %.60q", w.text)
	}
	if len(parts) > 1 || parts[0] == ":" {
		if !w.scalar { // of a literal, the library looks at the bounds in another way
			w.text = t.call(guardSliced, w.text)
		}
		return written{text: w.text + "[" + strings.Join(parts, "") + "]"}, t.want("]")
	}
	if !key.scalar {
		key.text = t.call(guardOutput, key.text) // it may become a text
	}
	if !key.scalar || isDigit(strings.TrimLeft(key.text, "(-+")[0]) {
		w.text = t.call(guardItem, w.text)
	}
	return written{text: w.text + "[" + key.text + "]"}, t.want("]")
}

// invoke is a call, of which the first bracket was taken.
func (t *translator) invoke(what string) (written, error) {
	guard := ""
	if t.loops {
		guard = guardIterated
	}
	args, err := t.arguments(guard)
	return written{text: t.call(guardCallee, what) + args}, err
}

// arguments are those in the brackets of a call, of which the first was taken,
// each in a call of guard where there is one.
func (t *translator) arguments(guard string) (string, error) {
	var all []string
	for k := t.peek(); !k.is(")") && k.kind != tokenEnd; k = t.peek() {
		prefix := ""
		switch {
		case t.took("**"):
			prefix = "**"
		case k.kind == tokenName && t.ahead(1).is("="):
			prefix = k.text + "="
			t.at += 2
		}
		w, err := t.expression()
		if err != nil {
			return "", err
		}
		if guard != "" && !w.scalar {
			w.text = t.call(guard, w.text)
		}
		all = append(all, prefix+w.text)
		t.took(",")
	}
	return "(" + strings.Join(all, ", ") + ")", t.want(")")
}

// filter is a filter behind a value: ours in place of one of the library's.
func (t *translator) filter(w written) (written, error) {
	k := t.next()
	if k.kind != tokenName {
		return w, fmt.Errorf("expected the name of a filter, got %q", k.text)
	}
	name := k.text
	if _, ok := filterCosts[name]; ok {
		name = t.names.name(guardFilter + name)
	}
	args := ""
	if t.took("(") {
		var err error
		if args, err = t.arguments(""); err != nil {
			return w, err
		}
	}
	return written{text: w.text + "|" + name + args}, nil
}

// test is one behind "is". Its argument may stand without brackets.
func (t *translator) test(w written) (written, error) {
	word := " is "
	if t.took("not") {
		word = " is not "
	}
	k := t.next()
	if k.kind != tokenName {
		return w, fmt.Errorf("expected the name of a test, got %q", k.text)
	}
	args := ""
	if t.took("(") {
		var err error
		if args, err = t.arguments(guardTested); err != nil {
			return w, err
		}
	} else if next := t.peek(); next.kind == tokenNumber || next.kind == tokenText ||
		next.kind == tokenName && !slices.Contains([]string{"and", "or", "else", "if", "in"}, next.text) {
		arg, err := t.signed()
		if err != nil {
			return w, err
		}
		args = "(" + t.call(guardTested, arg.text) + ")"
	}
	if args == "" && !slices.Contains(costlyTests, k.text) {
		return written{text: "(" + w.text + word + k.text + ")"}, nil
	}
	return written{text: "(" + t.call(guardTested, w.text) + word + k.text + args + ")"}, nil
}
