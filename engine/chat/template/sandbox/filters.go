package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// given is what a filter, a method or a function is given.
type given struct {
	r     *rendering
	args  []jinja.Value
	named map[string]jinja.Value
}

// arg is an argument by its place, or by its name; undefined where there is
// none.
func (g given) arg(i int, name string) jinja.Value {
	if v, ok := g.named[name]; ok {
		return v
	}
	if i < len(g.args) {
		return g.args[i]
	}
	return jinja.Undefined()
}

// cost is how many bytes something makes at most, temporary ones included. Its
// error is that of a rendering that must end.
type cost func(given) (int64, error)

// free is the cost of what makes nothing, or a number.
func free(given) (int64, error) { return 0, nil }

// printing is the cost of what makes a text out of the first argument, some
// times as long.
func printing(factor int64) cost {
	return func(g given) (int64, error) {
		n, err := g.r.printed(g.arg(0, ""))
		return bounds.Times(n, factor), err
	}
}

// going is the cost of what goes through the first argument and makes some
// bytes for each item.
func going(each int64) cost {
	return func(g given) (int64, error) {
		v := g.arg(0, "")
		return bounds.Add(iterated(v), bounds.Times(length(v), each)), nil
	}
}

// choosing is the cost of what also looks at each item, or, where attribute
// says at which place of the arguments it is named, at an attribute of it.
func choosing(each int64, attribute int) cost {
	return func(g given) (int64, error) {
		v := g.arg(0, "")
		m, err := g.r.scan(v)
		if err != nil {
			return 0, err
		}
		path := textOf(g.arg(attribute, "attribute"))
		return bounds.Add(iterated(v), bounds.Times(length(v), each), m.bytes, attributes(path, length(v), m.longest)), nil
	}
}

// attributes is the cost of looking up an attribute of n values: a number in
// its path goes through each text.
func attributes(path string, n, longest int64) int64 {
	numbers := int64(0)
	for part := range strings.SplitSeq(path, ".") {
		if _, err := strconv.Atoi(part); err == nil {
			numbers++
		}
	}
	return bounds.Times(bounds.Times(numbers, n), bounds.Times(longest, 96))
}

// filterCosts are all filters of the library. Those that are free make no more
// than they are given.
var filterCosts = map[string]cost{
	"abs":        free,
	"batch":      batchCost,
	"capitalize": printing(8),
	"count":      free,
	"d":          free,
	"default":    free,
	"dictsort":   going(192),
	"e":          escapeCost,
	"escape":     escapeCost,
	"first":      going(0),
	"float":      printing(2),
	"from_json":  parseCost,
	"fromjson":   parseCost,
	"indent":     indentCost,
	"int":        printing(2),
	"items":      going(192),
	"join":       joinCost,
	"last":       going(0),
	"length":     free,
	"list":       going(32),
	"lower":      printing(3),
	"map":        choosing(32, 99),
	"max":        choosing(0, 2),
	"min":        choosing(0, 2),
	"reject":     choosing(64, 99),
	"rejectattr": choosing(64, 1),
	"replace":    replaceCost,
	"reverse":    going(32),
	"round":      free,
	"safe":       free,
	"select":     choosing(64, 99),
	"selectattr": choosing(64, 1),
	"sort":       sortCost,
	"string":     printing(1),
	"sum":        choosing(0, 1),
	"title":      printing(8),
	"tojson":     jsonCost,
	"trim":       trimCost,
	"unique":     uniqueCost,
	"upper":      printing(3),
	"wordcount":  printing(16),
}

// filters makes functions of the library's filters that count what they make
// before they make it. The library finds them under other names than its own.
func (r *rendering) filters(vars map[string]jinja.Value, names guards) {
	for name := range filterCosts {
		vars[names.name(guardFilter+name)] = jinja.NewCallable(name, r.filter(name))
	}
}

type callable = func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error)

func (r *rendering) filter(name string) callable {
	native := r.natives.filters[name]
	if name == "map" {
		native = r.mapped(native)
	}
	return r.counted(filterCosts[name], native)
}

// counted is a function that asks before it makes something.
func (r *rendering) counted(c cost, f callable) callable {
	return func(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		g := given{r, args, named}
		bytes, err := c(g)
		if err != nil {
			return jinja.Undefined(), err
		}
		options, err := g.options()
		if err == nil {
			err = r.Grow(bounds.Add(bytes, options))
		}
		if err != nil {
			return jinja.Undefined(), err
		}
		return f(args, named)
	}
}

// options is the cost of arguments that are printed though they are lists.
func (g given) options() (int64, error) {
	sum := int64(0)
	one := func(v jinja.Value) error {
		if !v.IsList() && !v.IsDict() {
			return nil
		}
		n, err := g.r.printed(v)
		sum = bounds.Add(sum, n)
		return err
	}
	for _, v := range g.args[min(1, len(g.args)):] {
		if err := one(v); err != nil {
			return 0, err
		}
	}
	for _, v := range g.named {
		if err := one(v); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

// mapped is the filter that uses others, by their names: it has to use those
// that count.
func (r *rendering) mapped(native callable) callable {
	return func(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		if _, ok := named["attribute"]; ok || len(args) < 2 {
			return native(args, named)
		}
		name := textOf(args[1])
		if _, ok := filterCosts[name]; !ok {
			return jinja.Undefined(), fmt.Errorf("unknown filter %q", name)
		}
		filter := r.filter(name)
		source, err := r.natives.list(args[0])
		if err != nil {
			return jinja.Undefined(), err
		}
		items := make([]jinja.Value, 0, len(source))
		for _, item := range source {
			v, err := filter(append([]jinja.Value{item}, args[2:]...), named)
			if err != nil {
				return jinja.Undefined(), err
			}
			items = append(items, v)
		}
		return jinja.NewList(items), nil
	}
}

func batchCost(g given) (int64, error) {
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

func escapeCost(g given) (int64, error) {
	n, err := g.r.printed(g.arg(0, ""))
	if s := textOf(g.arg(0, "")); err == nil && s != "" {
		for _, c := range []string{"&", "<", ">", `"`, "'"} {
			n = bounds.Add(n, bounds.Times(int64(strings.Count(s, c)), 5))
		}
		return bounds.Times(n, 3), nil
	}
	return bounds.Times(n, 12), err
}

// parseCost is that of values out of JSON, the smallest of which take the most
// for each byte. The parser goes as deep as the text.
func parseCost(g given) (int64, error) {
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
		return 0, bounds.ErrDeep
	}
	return bounds.Times(int64(len(s)), 80), nil
}

func indentCost(g given) (int64, error) {
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

func joinCost(g given) (int64, error) {
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

func replaceCost(g given) (int64, error) {
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

// replaced is the cost of a text, of n bytes, in which something is replaced,
// count times at most; all where that is negative.
func (r *rendering) replaced(v jinja.Value, n int64, before, after jinja.Value, count int64) (int64, error) {
	with, err := r.printed(after)
	if err != nil {
		return 0, err
	}
	found := bounds.Add(n, 1) // in something that is no text: as often as can be
	if v.IsString() && (before.IsString() || before.IsUndefined()) {
		found = int64(strings.Count(v.AsString(), textOf(before)))
	}
	if count >= 0 {
		found = min(found, count)
	}
	return bounds.Add(bounds.Times(n, 2), bounds.Times(found, with)), nil
}

func sortCost(g given) (int64, error) {
	m, err := g.r.scan(g.arg(0, ""))
	if err == nil {
		err = bounds.Work(bounds.Times(m.nodes, 16))
	}
	return bounds.Times(length(g.arg(0, "")), 48), err
}

// uniqueCost: each item is compared with all that were found before.
func uniqueCost(g given) (int64, error) {
	v := g.arg(0, "")
	m, err := g.r.scan(v)
	if err == nil {
		err = bounds.Work(bounds.Times(length(v), m.nodes))
	}
	path := textOf(g.arg(2, "attribute"))
	return bounds.Add(iterated(v), bounds.Times(length(v), 96), bounds.Times(m.bytes, 2), attributes(path, length(v), m.longest)), err
}

func trimCost(g given) (int64, error) {
	n, err := g.r.printed(g.arg(0, ""))
	if err != nil || len(g.args) < 2 {
		return n, err
	}
	return n, trimming(n, g.args[1])
}

// trimming says no to taking any of many characters off a long text.
func trimming(n int64, characters jinja.Value) error {
	if s := textOf(characters); len(s) >= utf8.RuneSelf || !isASCII(s) {
		return bounds.Work(bounds.Times(n, int64(len(s))))
	}
	return nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func jsonCost(g given) (int64, error) {
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
		return 0, bounds.ErrHeap // it is made before the first use
	}
	err := m.walk(g.arg(0, ""), 0)
	if g.arg(1, "ensure_ascii").IsTruthy() {
		m.bytes = bounds.Times(m.bytes, 3)
	}
	return bounds.Times(m.bytes, 3), err
}
