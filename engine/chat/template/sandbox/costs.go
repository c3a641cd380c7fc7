package sandbox

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// callArgs holds the arguments of a filter, method or function.
type callArgs struct {
	r     *rendering
	args  []jinja.Value
	named map[string]jinja.Value
}

// arg is a positional or named argument, or undefined.
func (g callArgs) arg(i int, name string) jinja.Value {
	if v, ok := g.named[name]; ok {
		return v
	}
	if i < len(g.args) {
		return g.args[i]
	}
	return jinja.Undefined()
}

// cost is an upper bound of the bytes that a call allocates, temporary ones
// included. An error ends the rendering.
type cost func(callArgs) (int64, error)

// noCost is the cost of what allocates nothing, or a number.
func noCost(callArgs) (int64, error) { return 0, nil }

// textCost is the cost of a text factor times as long as the first argument.
func textCost(factor int64) cost {
	return func(g callArgs) (int64, error) {
		n, err := g.r.printed(g.arg(0, ""))
		return bounds.Times(n, factor), err
	}
}

// iterationCost is the cost of an iteration over the first argument that allocates some
// bytes per item.
func iterationCost(each int64) cost {
	return func(g callArgs) (int64, error) {
		v := g.arg(0, "")
		return bounds.Add(iterated(v), bounds.Times(length(v), each)), nil
	}
}

// attributeCost is the cost of an iteration that also reads each item, or the
// attribute of it that the argument with that index names.
func attributeCost(each int64, attribute int) cost {
	return func(g callArgs) (int64, error) {
		v := g.arg(0, "")
		m, err := g.r.scan(v)
		if err != nil {
			return 0, err
		}
		path := textOf(g.arg(attribute, "attribute"))
		return bounds.Add(iterated(v), bounds.Times(length(v), each), m.bytes, attributes(path, length(v), m.longest)), nil
	}
}

// attributes is the cost of reading an attribute of n values: a number in its path
// indexes strings, which converts them.
func attributes(path string, n, longest int64) int64 {
	numbers := int64(0)
	for part := range strings.SplitSeq(path, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			numbers++
		}
	}
	return bounds.Times(bounds.Times(numbers, n), bounds.Times(longest, 96))
}

// filterCosts has all filters of the library. Those without cost allocate no more
// than their arguments.
var filterCosts = map[string]cost{
	"abs":        noCost,
	"batch":      batchCost,
	"capitalize": textCost(8),
	"count":      noCost,
	"d":          noCost,
	"default":    noCost,
	"dictsort":   iterationCost(192),
	"e":          escapeCost,
	"escape":     escapeCost,
	"first":      iterationCost(0),
	"float":      textCost(2),
	"from_json":  parseCost,
	"fromjson":   parseCost,
	"indent":     indentCost,
	"int":        textCost(2),
	"items":      iterationCost(192),
	"join":       joinCost,
	"last":       iterationCost(0),
	"length":     noCost,
	"list":       iterationCost(32),
	"lower":      textCost(3),
	"map":        attributeCost(32, 99),
	"max":        attributeCost(0, 2),
	"min":        attributeCost(0, 2),
	"reject":     attributeCost(64, 99),
	"rejectattr": attributeCost(64, 1),
	"replace":    replaceCost,
	"reverse":    iterationCost(32),
	"round":      noCost,
	"safe":       noCost,
	"select":     attributeCost(64, 99),
	"selectattr": attributeCost(64, 1),
	"sort":       sortCost,
	"string":     textCost(1),
	"sum":        attributeCost(0, 1),
	"title":      textCost(8),
	"tojson":     jsonCost,
	"trim":       trimCost,
	"unique":     uniqueCost,
	"upper":      textCost(3),
	"wordcount":  textCost(16),
}

func batchCost(g callArgs) (int64, error) {
	count := numberOf(g.arg(1, "linecount"))
	if count <= 0 {
		return 0, nil
	}
	n := length(g.arg(0, ""))
	if fill := g.arg(2, "fill_with"); !fill.IsNone() && !fill.IsUndefined() {
		n = bounds.Add(n, count)
	}
	return bounds.Add(iterated(g.arg(0, "")), bounds.Times(n, 96)), nil
}

func escapeCost(g callArgs) (int64, error) {
	n, err := g.r.printed(g.arg(0, ""))
	if s := textOf(g.arg(0, "")); err == nil && s != "" {
		for _, c := range []string{"&", "<", ">", `"`, "'"} {
			n = bounds.Add(n, bounds.Times(int64(strings.Count(s, c)), 5))
		}
		return bounds.Times(n, 3), nil
	}
	return bounds.Times(n, 12), err
}

// parseCost is the cost of decoding JSON: small values take the most per byte. The
// decoder recurses as deep as the text.
func parseCost(g callArgs) (int64, error) {
	s := textOf(g.arg(0, ""))
	depth, deepest := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		case '"':
			i += quotedLength(s[i:]) - 1
		}
	}
	if deepest > bounds.MaxNesting {
		return 0, bounds.ErrNesting
	}
	return bounds.Times(int64(len(s)), 80), nil
}

func indentCost(g callArgs) (int64, error) {
	n, err := g.r.printed(g.arg(0, ""))
	if err != nil {
		return 0, err
	}
	width := int64(4)
	if w := g.arg(1, "width"); w.IsString() {
		width = int64(len(w.AsString()))
	} else if !w.IsUndefined() {
		width = numberOf(w)
	}
	count := n
	if s := g.arg(0, ""); s.IsString() {
		count = lines(s.AsString())
	}
	return bounds.Add(bounds.Times(n, 4), bounds.Times(count, 16), bounds.Times(bounds.Times(bounds.Add(count, 1), max(width, 0)), 2)), nil
}

func joinCost(g callArgs) (int64, error) {
	v := g.arg(0, "")
	n := length(v)
	sum := bounds.Add(iterated(v), bounds.Times(n, 24))
	m, err := g.r.scan(v)
	if err != nil {
		return 0, err
	}
	separator := g.arg(1, "d")
	between, err := g.r.printed(separator)
	if err != nil || separator.IsUndefined() {
		between = 0
	}
	path := textOf(g.arg(2, "attribute"))
	return bounds.Add(sum, bounds.Times(m.bytes, 2), bounds.Times(between, n), attributes(path, n, m.longest)), err
}

func replaceCost(g callArgs) (int64, error) {
	n, err := g.r.printed(g.arg(0, ""))
	if err != nil || len(g.args) < 3 {
		return n, err
	}
	count := int64(-1)
	if c := g.arg(3, "count"); !c.IsUndefined() {
		count = numberOf(c)
	}
	return g.r.replaced(g.args[0], n, g.args[1], g.args[2], count)
}

// replaced is the cost of replacing in a text of n bytes, at most count times
// unless that is negative.
func (r *rendering) replaced(v jinja.Value, n int64, before, after jinja.Value, count int64) (int64, error) {
	with, err := r.printed(after)
	if err != nil {
		return 0, err
	}
	found := bounds.Add(n, 1) // not a string: the most that is possible
	if v.IsString() && (before.IsString() || before.IsUndefined()) {
		found = int64(strings.Count(v.AsString(), textOf(before)))
	}
	if count >= 0 {
		found = min(found, count)
	}
	return bounds.Add(bounds.Times(n, 2), bounds.Times(found, with)), nil
}

func sortCost(g callArgs) (int64, error) {
	m, err := g.r.scan(g.arg(0, ""))
	if err == nil {
		err = bounds.Work(bounds.Times(m.nodes, 16))
	}
	return bounds.Times(length(g.arg(0, "")), 48), err
}

// uniqueCost: each item is compared with all unique ones before.
func uniqueCost(g callArgs) (int64, error) {
	v := g.arg(0, "")
	m, err := g.r.scan(v)
	if err == nil {
		err = bounds.Work(bounds.Times(length(v), m.nodes))
	}
	path := textOf(g.arg(2, "attribute"))
	return bounds.Add(iterated(v), bounds.Times(length(v), 96), bounds.Times(m.bytes, 2), attributes(path, length(v), m.longest)), err
}

func trimCost(g callArgs) (int64, error) {
	n, err := g.r.printed(g.arg(0, ""))
	if err != nil || len(g.args) < 2 {
		return n, err
	}
	return n, trimming(n, g.args[1])
}

// trimming refuses to trim many different characters off a long text.
func trimming(n int64, characters jinja.Value) error {
	if s := textOf(characters); len(s) >= utf8.RuneSelf || !isASCII(s) {
		return bounds.Work(bounds.Times(n, int64(len(s))))
	}
	return nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func jsonCost(g callArgs) (int64, error) {
	pad, item, key := int64(-1), int64(2), int64(2)
	switch indent := g.arg(2, "indent"); {
	case indent.IsString():
		pad = int64(len(indent.AsString()))
	case !indent.IsNone() && !indent.IsUndefined():
		pad = max(numberOf(indent), 0)
	}
	if s := g.arg(3, "separators"); s.IsList() && s.AsList().Len() == 2 {
		item, key = int64(len(textOf(s.AsList().Get(0)))), int64(len(textOf(s.AsList().Get(1))))
	}
	m := &measure{r: g.r, most: bounds.MaxWork, text: quotedSize, each: func(depth int) int64 {
		if pad < 0 {
			return item + key
		}
		return bounds.Add(item, key, 1, bounds.Times(pad, int64(depth)+1))
	}}
	if pad > g.r.Limit() {
		return 0, bounds.ErrMemory // the library allocates it at once
	}
	err := m.walk(g.arg(0, ""), 0)
	if g.arg(1, "ensure_ascii").IsTruthy() {
		m.bytes = bounds.Times(m.bytes, 3)
	}
	return bounds.Times(m.bytes, 3), err
}

// methodCosts has all methods of strings, lists and dicts, and those of a loop that
// compare. The first argument is the receiver.
var methodCosts = map[string]cost{
	"append":     appendCost,
	"capitalize": textCost(8),
	"changed":    changedCost,
	"count":      searchCost,
	"endswith":   searchCost,
	"find":       searchCost,
	"format":     noCost, // charges by itself
	"get":        noCost,
	"insert":     appendCost,
	"items":      iterationCost(192),
	"keys":       iterationCost(64),
	"lower":      textCost(3),
	"lstrip":     stripCost,
	"pop":        popCost,
	"replace":    methodReplaceCost,
	"rstrip":     stripCost,
	"split":      splitCost,
	"startswith": searchCost,
	"strip":      stripCost,
	"title":      textCost(8),
	"update":     updateCost,
	"upper":      textCost(3),
	"values":     iterationCost(64),
}

func appendCost(g callArgs) (int64, error) {
	list := g.arg(0, "").AsList()
	if len(list.Items) < cap(list.Items) {
		return 0, nil
	}
	return bounds.Times(int64(len(list.Items))+8, 48), nil
}

func changedCost(g callArgs) (int64, error) {
	for _, v := range g.args[1:] {
		if _, err := g.r.scan(v); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func searchCost(g callArgs) (int64, error) {
	return bounds.Times(int64(len(textOf(g.arg(0, "")))), 6), nil
}

func stripCost(g callArgs) (int64, error) {
	if len(g.args) < 2 {
		return 0, nil
	}
	return 0, trimming(int64(len(textOf(g.args[0]))), g.args[1])
}

func popCost(g callArgs) (int64, error) { return bounds.Times(length(g.arg(0, "")), 16), nil }

func updateCost(g callArgs) (int64, error) { return bounds.Times(length(g.arg(1, "")), 128), nil }

func methodReplaceCost(g callArgs) (int64, error) {
	if len(g.args) < 3 {
		return 0, nil
	}
	count := int64(-1)
	if len(g.args) > 3 {
		count = numberOf(g.args[3])
	}
	return g.r.replaced(g.args[0], int64(len(textOf(g.args[0]))), g.args[1], g.args[2], count)
}

// splitCost counts the parts.
func splitCost(g callArgs) (int64, error) {
	s, parts := textOf(g.arg(0, "")), int64(1)
	if at := g.arg(1, "sep"); at.IsString() && at.AsString() != "" {
		parts = bounds.Add(parts, int64(strings.Count(s, at.AsString())))
	} else {
		for range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) || r >= '\x1c' && r <= '\x1f' }) {
			parts++
		}
	}
	return bounds.Times(parts, 96), nil
}

// functionCosts has the library's functions that are not replaced. They copy named
// arguments.
var functionCosts = map[string]cost{
	"cycler":    namedCost,
	"dict":      namedCost,
	"joiner":    namedCost,
	"namespace": namedCost,
}

func namedCost(g callArgs) (int64, error) {
	sum := bounds.Times(int64(len(g.args)+len(g.named)), 128)
	for _, v := range g.args {
		m, err := g.r.scan(v)
		if err != nil {
			return 0, err
		}
		sum = bounds.Add(sum, bounds.Times(length(v), 192), m.bytes)
	}
	return sum, nil
}

// costlyTests are the tests that convert their operand.
var costlyTests = []string{"upper", "lower"}
