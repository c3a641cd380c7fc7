package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// The library evaluates expressions by itself, and what one of them makes may
// be thousands of times larger than what it is made of: a text times a number,
// an indent, a width in a format. So expressions are parsed here, by the
// library's own rules, and written back with calls of functions that count
// what each operation makes before it is made. The library then finds no
// operation that is not counted.

const (
	// maxOperators bounds the operations in one tag: the library goes down as
	// deep as they hang on each other.
	maxOperators = 2000
)

// translator rewrites one expression.
type translator struct {
	tokens    []token
	at        int
	operators int
	depth     int
	names     guards
	loops     bool // there is a loop that calls itself, with what it is given
}

// written is a part of an expression, written anew.
type written struct {
	text   string
	scalar bool // it is a literal, and no list
}

// translate rewrites a whole expression.
func (g guards) translate(source string, loops bool) (string, error) {
	t, err := g.translator(source, loops)
	if err != nil {
		return "", err
	}
	if len(t.tokens) == 0 {
		return "none", nil // as in the library
	}
	w, err := t.expression()
	if err != nil {
		return "", err
	}
	return w.text, t.end()
}

func (g guards) translator(source string, loops bool) (*translator, error) {
	tokens, err := tokenize(source)
	return &translator{tokens: tokens, names: g, loops: loops}, err
}

func (t *translator) peek() token { return t.ahead(0) }

func (t *translator) ahead(n int) token {
	if t.at+n >= len(t.tokens) {
		return token{}
	}
	return t.tokens[t.at+n]
}

func (t *translator) next() token {
	k := t.peek()
	t.at++
	return k
}

// took takes the next token if it is a mark or a keyword.
func (t *translator) took(text string) bool {
	if k := t.peek(); !k.is(text) && !k.names(text) {
		return false
	}
	t.at++
	return true
}

func (t *translator) want(mark string) error {
	if k := t.next(); !k.is(mark) {
		return fmt.Errorf("expected %q but got %q", mark, k.text)
	}
	return nil
}

// end is an error where something is left.
func (t *translator) end() error {
	if k := t.peek(); k.kind != tokenEnd {
		return fmt.Errorf("unexpected %q behind an expression", k.text)
	}
	return nil
}

// deeper counts a step down. The function it returns is the way back.
func (t *translator) deeper() (func(), error) {
	if t.depth++; t.depth > maxBrackets {
		return nil, fmt.Errorf("an expression nests deeper than %d", maxBrackets)
	}
	return func() { t.depth-- }, nil
}

// operator counts an operation.
func (t *translator) operator() error {
	if t.operators++; t.operators > maxOperators {
		return fmt.Errorf("a tag has more than %d operations", maxOperators)
	}
	return nil
}

// call writes a call of one of our functions.
func (t *translator) call(name string, args ...string) string {
	return t.names.name(name) + "(" + strings.Join(args, ", ") + ")"
}

// expression is: or [if or [else expression]].
func (t *translator) expression() (written, error) {
	back, err := t.deeper()
	if err != nil {
		return written{}, err
	}
	defer back()
	w, err := t.chain("or")
	if err != nil || !t.took("if") {
		return w, err
	}
	condition, err := t.chain("or")
	if err != nil {
		return w, err
	}
	text := "(" + w.text + " if " + condition.text
	if t.took("else") {
		other, err := t.expression()
		if err != nil {
			return w, err
		}
		text += " else " + other.text
	}
	return written{text: text + ")"}, t.operator()
}

// chain is operands of "or", or of "and", which are only evaluated as far as
// needed, so that they stay as they are.
func (t *translator) chain(keyword string) (written, error) {
	operand := t.not
	if keyword == "or" {
		operand = func() (written, error) { return t.chain("and") }
	}
	left, err := operand()
	for err == nil && t.took(keyword) {
		var right written
		if right, err = operand(); err == nil {
			left = written{text: "(" + left.text + " " + keyword + " " + right.text + ")"}
			err = t.operator()
		}
	}
	return left, err
}

func (t *translator) not() (written, error) {
	if !t.took("not") {
		return t.comparison()
	}
	back, err := t.deeper()
	if err != nil {
		return written{}, err
	}
	defer back()
	w, err := t.not()
	return written{text: "(not " + w.text + ")"}, err
}

// comparison is operands between comparisons. What is compared with a literal
// takes no time.
func (t *translator) comparison() (written, error) {
	first, err := t.binary(0)
	if err != nil {
		return first, err
	}
	operands, operators := []written{first}, []string{}
	for {
		operator := t.comparator()
		if operator == "" {
			break
		}
		w, err := t.binary(0)
		if err != nil {
			return w, err
		}
		if err := t.operator(); err != nil {
			return w, err
		}
		operands, operators = append(operands, w), append(operators, operator)
	}
	if len(operators) == 0 {
		return first, nil
	}
	free := len(operators) == 1 && (operands[0].scalar || operands[1].scalar && operators[0] != "in" && operators[0] != "not in")
	var b strings.Builder
	for i, w := range operands {
		if i > 0 {
			b.WriteString(" " + operators[i-1] + " ")
		}
		if free || w.scalar {
			b.WriteString(w.text)
			continue
		}
		b.WriteString(t.call(guardCompared, w.text))
	}
	return written{text: "(" + b.String() + ")"}, nil
}

// comparator takes a comparison; empty: there is none.
func (t *translator) comparator() string {
	k := t.peek()
	switch {
	case k.kind == tokenMark && slices.Contains([]string{"==", "!=", "<", ">", "<=", ">="}, k.text), k.names("in"):
		t.at++
		return k.text
	case k.names("not") && t.ahead(1).names("in"):
		t.at += 2
		return "not in"
	}
	return ""
}

// levels are the operators between values, from those that bind least.
var levels = [][]string{{"~"}, {"+", "-"}, {"*", "/", "%", "//"}, {"**"}}

// binary is operands of one level.
func (t *translator) binary(level int) (written, error) {
	if level == len(levels) {
		return t.unary()
	}
	left, err := t.binary(level + 1)
	for err == nil && t.peek().kind == tokenMark && slices.Contains(levels[level], t.peek().text) {
		operator := t.next().text
		var right written
		if right, err = t.binary(level + 1); err == nil {
			left = written{text: t.operation(operator, left, right)}
			err = t.operator()
		}
	}
	return left, err
}

// operation writes an operation: those that can make a text or a list are
// ours, and the others make numbers.
func (t *translator) operation(operator string, left, right written) string {
	switch operator {
	case "~", "+", "*", "%":
		return t.call(guardOperation, "'"+operator+"'", left.text, right.text)
	}
	return "(" + left.text + " " + operator + " " + right.text + ")"
}

// unary is a sign, which binds before filters, and what is behind it.
func (t *translator) unary() (written, error) {
	sign := t.sign()
	if sign == "" {
		w, err := t.atom()
		if err != nil {
			return w, err
		}
		return t.postfix(w, true)
	}
	w, err := t.signed()
	if err != nil {
		return w, err
	}
	return t.postfix(written{text: "(" + sign + w.text + ")", scalar: w.scalar}, true)
}

// sign takes one; empty: there is none.
func (t *translator) sign() string {
	if k := t.peek(); k.is("-") || k.is("+") {
		t.at++
		return k.text
	}
	return ""
}

// signed is what is behind a sign, without filters.
func (t *translator) signed() (written, error) {
	back, err := t.deeper()
	if err != nil {
		return written{}, err
	}
	defer back()
	if sign := t.sign(); sign != "" {
		w, err := t.signed()
		return written{text: "(" + sign + w.text + ")"}, err
	}
	w, err := t.atom()
	if err != nil {
		return w, err
	}
	return t.postfix(w, false)
}
