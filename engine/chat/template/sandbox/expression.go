package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// A short expression can allocate thousands of times its own size: a string times
// a number, an indent, the width of a format. So expressions are parsed here, by
// the library's own rules, and written back with guards, which charge for each
// operation before the library does it.

// maxOperators limits the operations in one tag, on which the library recurses.
const maxOperators = 2000

// translator rewrites one expression.
type translator struct {
	tokens    []token
	at        int
	operators int
	depth     int
	names     guards
	loops     bool // the template has a recursive loop, whose calls take arguments
}

// rewritten is a part of a rewritten expression.
type rewritten struct {
	text   string
	scalar bool // a literal that is not a list or dict
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

// accept consumes the next token if it is this operator or keyword.
func (t *translator) accept(text string) bool {
	if k := t.peek(); !k.is(text) && !k.isKeyword(text) {
		return false
	}
	t.at++
	return true
}

func (t *translator) expect(mark string) error {
	if k := t.next(); !k.is(mark) {
		return fmt.Errorf("expected %q but got %q", mark, k.text)
	}
	return nil
}

// end expects the end of the expression.
func (t *translator) end() error {
	if k := t.peek(); k.kind != tokenEnd {
		return fmt.Errorf("unexpected %q behind an expression", k.text)
	}
	return nil
}

// descend enters a nested expression. The returned function leaves it.
func (t *translator) descend() (func(), error) {
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

// call writes a call of a guard.
func (t *translator) call(name string, args ...string) string {
	return t.names.name(name) + "(" + strings.Join(args, ", ") + ")"
}

// expression is: or [if or [else expression]].
func (t *translator) expression() (rewritten, error) {
	back, err := t.descend()
	if err != nil {
		return rewritten{}, err
	}
	defer back()
	w, err := t.chain("or")
	if err != nil || !t.accept("if") {
		return w, err
	}
	condition, err := t.chain("or")
	if err != nil {
		return w, err
	}
	text := "(" + w.text + " if " + condition.text
	if t.accept("else") {
		other, err := t.expression()
		if err != nil {
			return w, err
		}
		text += " else " + other.text
	}
	return rewritten{text: text + ")"}, t.operator()
}

// chain is operands of "or" or "and". These need no guard, and short-circuit.
func (t *translator) chain(keyword string) (rewritten, error) {
	operand := t.not
	if keyword == "or" {
		operand = func() (rewritten, error) { return t.chain("and") }
	}
	left, err := operand()
	for err == nil && t.accept(keyword) {
		var right rewritten
		if right, err = operand(); err == nil {
			left = rewritten{text: "(" + left.text + " " + keyword + " " + right.text + ")"}
			err = t.operator()
		}
	}
	return left, err
}

func (t *translator) not() (rewritten, error) {
	if !t.accept("not") {
		return t.comparison()
	}
	back, err := t.descend()
	if err != nil {
		return rewritten{}, err
	}
	defer back()
	w, err := t.not()
	return rewritten{text: "(not " + w.text + ")"}, err
}

// comparison is operands and comparison operators. Comparing with a literal needs
// no guard.
func (t *translator) comparison() (rewritten, error) {
	first, err := t.binary(0)
	if err != nil {
		return first, err
	}
	operands, operators := []rewritten{first}, []string{}
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
	return rewritten{text: "(" + b.String() + ")"}, nil
}

// comparator consumes a comparison operator; empty: there is none.
func (t *translator) comparator() string {
	k := t.peek()
	switch {
	case k.kind == tokenOperator && slices.Contains([]string{"==", "!=", "<", ">", "<=", ">="}, k.text), k.isKeyword("in"):
		t.at++
		return k.text
	case k.isKeyword("not") && t.ahead(1).isKeyword("in"):
		t.at += 2
		return "not in"
	}
	return ""
}

// levels are the binary operators, from the lowest precedence.
var levels = [][]string{{"~"}, {"+", "-"}, {"*", "/", "%", "//"}, {"**"}}

// binary is operands and operators of one precedence.
func (t *translator) binary(level int) (rewritten, error) {
	if level == len(levels) {
		return t.unary()
	}
	left, err := t.binary(level + 1)
	for err == nil && t.peek().kind == tokenOperator && slices.Contains(levels[level], t.peek().text) {
		operator := t.next().text
		var right rewritten
		if right, err = t.binary(level + 1); err == nil {
			left = rewritten{text: t.operation(operator, left, right)}
			err = t.operator()
		}
	}
	return left, err
}

// operation writes an operation: guarded if it can make a string or a list.
func (t *translator) operation(operator string, left, right rewritten) string {
	switch operator {
	case "~", "+", "*", "%":
		return t.call(guardOperation, "'"+operator+"'", left.text, right.text)
	}
	return "(" + left.text + " " + operator + " " + right.text + ")"
}

// unary is an optional sign, which binds tighter than filters, and its operand.
func (t *translator) unary() (rewritten, error) {
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
	return t.postfix(rewritten{text: "(" + sign + w.text + ")", scalar: w.scalar}, true)
}

// sign consumes a sign; empty: there is none.
func (t *translator) sign() string {
	if k := t.peek(); k.is("-") || k.is("+") {
		t.at++
		return k.text
	}
	return ""
}

// signed is the operand of a sign, without filters.
func (t *translator) signed() (rewritten, error) {
	back, err := t.descend()
	if err != nil {
		return rewritten{}, err
	}
	defer back()
	if sign := t.sign(); sign != "" {
		w, err := t.signed()
		return rewritten{text: "(" + sign + w.text + ")"}, err
	}
	w, err := t.atom()
	if err != nil {
		return w, err
	}
	return t.postfix(w, false)
}
