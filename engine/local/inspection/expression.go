package inspection

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// expression is one of the tables', as a tree.
type expression struct {
	op    string // "number", "name", "has", a sign, or a function
	value int64
	name  string
	args  []*expression
}

// scope gives expressions their values.
type scope struct {
	numbers map[string]int64
	lets    map[string]*expression
	has     func(tensor string) bool
	dim     func(tensor string, i int) int64 // 0: it is not there
}

// signs by how tightly they bind, the loosest first.
var signs = [][]string{{"|"}, {"&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/", "%"}}

// functions and how many arguments they take.
var functions = map[string]int{"min": 2, "max": 2, "or": 2, "has": 1, "dim": 2, "square": 1}

// parseExpression reads the notation that the tables describe.
func parseExpression(text string) (*expression, error) {
	p := &expressionParser{rest: text}
	e, err := p.level(0)
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q is left over", p.rest)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return e, nil
}

type expressionParser struct{ rest string }

func (p *expressionParser) level(n int) (*expression, error) {
	if n == len(signs) {
		return p.operand()
	}
	left, err := p.level(n + 1)
	for err == nil {
		i := slices.IndexFunc(signs[n], func(sign string) bool { return strings.HasPrefix(p.rest, sign) })
		if i < 0 {
			break
		}
		sign := signs[n][i]
		p.rest = p.rest[len(sign):]
		var right *expression
		right, err = p.level(n + 1)
		left = &expression{op: sign, args: []*expression{left, right}}
	}
	return left, err
}

func (p *expressionParser) operand() (*expression, error) {
	if p.take("(") {
		e, err := p.level(0)
		if err == nil && !p.take(")") {
			err = fmt.Errorf("a ) is missing before %q", p.rest)
		}
		return e, err
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return r != '_' && r != '.' && r != '#' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	if word == "" {
		return nil, fmt.Errorf("a number or a name is missing before %q", p.rest)
	}
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return &expression{op: "number", value: n}, nil
	}
	if _, ok := functions[word]; ok && p.take("(") {
		return p.call(word)
	}
	return &expression{op: "name", name: word}, nil
}

func (p *expressionParser) call(function string) (*expression, error) {
	e := &expression{op: function}
	for {
		arg, err := p.level(0)
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, arg)
		if p.take(")") {
			break
		}
		if !p.take(",") {
			return nil, fmt.Errorf("a , or ) is missing before %q", p.rest)
		}
	}
	if len(e.args) != functions[function] {
		return nil, fmt.Errorf("%s takes %d arguments", function, functions[function])
	}
	if function == "has" || function == "dim" {
		e.name = e.args[0].name
	}
	return e, nil
}

func (p *expressionParser) take(sign string) bool {
	rest, ok := strings.CutPrefix(p.rest, sign)
	p.rest = rest
	return ok
}

// in computes an expression. A name without a value is 0, and what is divided
// by 0 is nothing. What does not fit saturates.
func (e *expression) in(s *scope) int64 {
	switch e.op {
	case "number":
		return e.value
	case "name":
		if let, ok := s.lets[e.name]; ok {
			return let.in(s)
		}
		return s.numbers[e.name]
	case "has":
		return truth(s.has(e.name))
	case "dim":
		return s.dim(e.name, int(e.args[1].value))
	case "square":
		n := e.args[0].in(s)
		root := int64(math.Sqrt(float64(n)))
		return truth(n > 0 && root*root == n)
	}
	return operate(e.op, e.args[0].in(s), e.args[1].in(s))
}

// enough is where products saturate: above every number of a real file, and
// such that sums of some of them fit.
const enough = 1 << 56

// nothing is what a division by 0 gives: no dimension, and no 0.
const nothing = -1

func operate(op string, a, b int64) int64 {
	switch op {
	case "+":
		return min(a+b, enough)
	case "-":
		return a - b
	case "*":
		if a > 0 && b > enough/a {
			return enough
		}
		return a * b
	case "/":
		if b == 0 {
			return nothing
		}
		return a / b
	case "%":
		if b == 0 {
			return nothing
		}
		return a % b
	case "min":
		return min(a, b)
	case "max":
		return max(a, b)
	case "or":
		if a != 0 {
			return a
		}
		return b
	}
	return truth(compare(op, a, b))
}

func compare(op string, a, b int64) bool {
	switch op {
	case "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "&":
		return a != 0 && b != 0
	}
	return a != 0 || b != 0 // "|"
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// names are those of numbers that an expression is made of, those of lets
// included.
func (e *expression) names(lets map[string]*expression) []string {
	if e.op == "name" {
		if let, ok := lets[e.name]; ok {
			return let.names(lets)
		}
		return []string{e.name}
	}
	var names []string
	if e.op == "has" || e.op == "dim" {
		return nil
	}
	for _, arg := range e.args {
		for _, name := range arg.names(lets) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
