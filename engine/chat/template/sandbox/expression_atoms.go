package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// atom is a literal, a name, or a bracketed expression.
func (t *translator) atom() (rewritten, error) {
	k := t.next()
	switch {
	case k.kind == tokenName:
		if strings.HasPrefix(k.text, hiddenFilter) && k.text != filterBody {
			return rewritten{}, fmt.Errorf("there is no variable %q", k.text)
		}
		scalar := slices.Contains([]string{"None", "none", "null", "True", "true", "False", "false"}, k.text)
		return rewritten{text: k.text, scalar: scalar}, nil
	case k.kind == tokenNumber, k.kind == tokenFloat:
		return rewritten{text: k.text, scalar: true}, nil
	case k.kind == tokenString:
		text := k.text
		for t.peek().kind == tokenString { // adjacent strings are one
			text += " " + t.next().text
		}
		return rewritten{text: text, scalar: true}, nil
	case k.is("("):
		return t.parentheses()
	case k.is("["):
		return t.list()
	case k.is("{"):
		return t.dict()
	case k.is("-"):
		w, err := t.atom()
		return rewritten{text: "(-" + w.text + ")"}, err
	}
	return rewritten{}, fmt.Errorf("unexpected %q", k.text)
}

// parentheses is a parenthesized expression or a tuple.
func (t *translator) parentheses() (rewritten, error) {
	if t.accept(")") {
		return rewritten{text: "()"}, nil
	}
	first, err := t.expression()
	if err != nil {
		return first, err
	}
	if t.accept(")") {
		return rewritten{text: "(" + first.text + ")", scalar: first.scalar}, nil
	}
	text := "(" + first.text + ","
	for t.accept(",") && !t.peek().is(")") {
		w, err := t.expression()
		if err != nil {
			return w, err
		}
		text += w.text + ","
	}
	return rewritten{text: text + ")"}, t.expect(")")
}

// list is a list after its opening bracket. Commas are optional.
func (t *translator) list() (rewritten, error) {
	var b strings.Builder
	for k := t.peek(); !k.is("]") && k.kind != tokenEnd; k = t.peek() {
		w, err := t.expression()
		if err != nil {
			return w, err
		}
		b.WriteString(w.text + ", ")
		t.accept(",")
	}
	return rewritten{text: "[" + b.String() + "]"}, t.expect("]")
}

func (t *translator) dict() (rewritten, error) {
	var b strings.Builder
	for k := t.peek(); !k.is("}") && k.kind != tokenEnd; k = t.peek() {
		key, err := t.expression()
		if err == nil {
			err = t.expect(":")
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
			name = t.call(guardOutput, name) // converted to a string
		}
		b.WriteString(name + ": " + value.text + ", ")
		t.accept(",")
	}
	return rewritten{text: "{" + b.String() + "}"}, t.expect("}")
}

// postfix is what follows a value: attributes, items, slices, calls, and, unless
// the value has a sign, filters and tests.
func (t *translator) postfix(w rewritten, filters bool) (rewritten, error) {
	for {
		var err error
		switch {
		case t.accept("."):
			w, err = t.member(w)
		case t.accept("["):
			w, err = t.item(w)
		case t.accept("("):
			w, err = t.invoke(w.text)
		case filters && t.accept("|"):
			w, err = t.filter(w)
		case filters && t.accept("is"):
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

// member is an attribute. If it may be a method, guards note the receiver and wrap
// the method.
func (t *translator) member(w rewritten) (rewritten, error) {
	k := t.next()
	if k.kind != tokenName && k.kind != tokenNumber {
		return w, fmt.Errorf("expected a name behind a dot, got %q", k.text)
	}
	if _, ok := methodCosts[k.text]; !ok {
		return rewritten{text: w.text + "." + k.text}, nil
	}
	return rewritten{text: t.call(guardMethod, "'"+k.text+"'", t.call(guardOwner, w.text)+"."+k.text)}, nil
}

// item is an index, a key or a slice.
func (t *translator) item(w rewritten) (rewritten, error) {
	var parts []string // with the colons between them
	var key rewritten
	for k := t.peek(); !k.is("]") && len(parts) < 5; k = t.peek() {
		if t.accept(":") {
			parts = append(parts, ":")
			continue
		}
		if n := len(parts); n > 0 && parts[n-1] != ":" {
			break // expect reports it
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
		if !w.scalar { // the library slices literals differently
			w.text = t.call(guardSliced, w.text)
		}
		return rewritten{text: w.text + "[" + strings.Join(parts, "") + "]"}, t.expect("]")
	}
	if !key.scalar {
		key.text = t.call(guardOutput, key.text) // may be converted to a string
	}
	if !key.scalar || isDigit(strings.TrimLeft(key.text, "(-+")[0]) {
		w.text = t.call(guardItem, w.text)
	}
	return rewritten{text: w.text + "[" + key.text + "]"}, t.expect("]")
}

// invoke is a call after its opening parenthesis.
func (t *translator) invoke(what string) (rewritten, error) {
	guard := ""
	if t.loops {
		guard = guardIterated
	}
	args, err := t.arguments(guard)
	return rewritten{text: t.call(guardCallee, what) + args}, err
}

// arguments are those of a call after its opening parenthesis, each wrapped in
// guard unless that is empty.
func (t *translator) arguments(guard string) (string, error) {
	var all []string
	for k := t.peek(); !k.is(")") && k.kind != tokenEnd; k = t.peek() {
		prefix := ""
		switch {
		case t.accept("**"):
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
		t.accept(",")
	}
	return "(" + strings.Join(all, ", ") + ")", t.expect(")")
}

// filter is a filter, replaced by the guarded one.
func (t *translator) filter(w rewritten) (rewritten, error) {
	k := t.next()
	if k.kind != tokenName {
		return w, fmt.Errorf("expected the name of a filter, got %q", k.text)
	}
	name := k.text
	if _, ok := filterCosts[name]; ok {
		name = t.names.name(guardFilter + name)
	}
	args := ""
	if t.accept("(") {
		var err error
		if args, err = t.arguments(""); err != nil {
			return w, err
		}
	}
	return rewritten{text: w.text + "|" + name + args}, nil
}

// test is a test after "is". Its argument needs no parentheses.
func (t *translator) test(w rewritten) (rewritten, error) {
	word := " is "
	if t.accept("not") {
		word = " is not "
	}
	k := t.next()
	if k.kind != tokenName {
		return w, fmt.Errorf("expected the name of a test, got %q", k.text)
	}
	args := ""
	if t.accept("(") {
		var err error
		if args, err = t.arguments(guardTested); err != nil {
			return w, err
		}
	} else if next := t.peek(); next.kind == tokenNumber || next.kind == tokenString ||
		next.kind == tokenName && !slices.Contains([]string{"and", "or", "else", "if", "in"}, next.text) {
		arg, err := t.signed()
		if err != nil {
			return w, err
		}
		args = "(" + t.call(guardTested, arg.text) + ")"
	}
	if args == "" && !slices.Contains(costlyTests, k.text) {
		return rewritten{text: "(" + w.text + word + k.text + ")"}, nil
	}
	return rewritten{text: "(" + t.call(guardTested, w.text) + word + k.text + args + ")"}, nil
}
