package sandbox

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// methodCosts are all methods of the library's texts, lists and dicts, and
// those of a loop that compare. The first argument is what the method is of.
var methodCosts = map[string]cost{
	"append":     appendCost,
	"capitalize": printing(8),
	"changed":    changedCost,
	"count":      searchCost,
	"endswith":   searchCost,
	"find":       searchCost,
	"format":     free, // it counts by itself
	"get":        free,
	"insert":     appendCost,
	"items":      going(192),
	"keys":       going(64),
	"lower":      printing(3),
	"lstrip":     stripCost,
	"pop":        popCost,
	"replace":    methodReplaceCost,
	"rstrip":     stripCost,
	"split":      splitCost,
	"startswith": searchCost,
	"strip":      stripCost,
	"title":      printing(8),
	"update":     updateCost,
	"upper":      printing(3),
	"values":     going(64),
}

// owner notes what a method is of, which is asked for next.
func (r *rendering) owner(args []jinja.Value) (jinja.Value, error) {
	r.owned = args[0]
	return args[0], nil
}

// method is what stands behind a dot: one that counts in place of the
// library's, and anything else as it is.
func (r *rendering) method(args []jinja.Value) (jinja.Value, error) {
	name, found, owner := args[0].AsString(), args[1], r.owned
	r.owned = jinja.Undefined()
	if !found.IsCallable() || !isMethod(owner, name, found.AsCallable().Name) {
		return found, nil
	}
	f := found.AsCallable().Fn
	if name == "format" {
		f = r.format(owner.AsString())
	}
	count := r.counted(methodCosts[name], func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) { return jinja.None(), nil })
	return jinja.NewCallable(found.AsCallable().Name, func(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		if _, err := count(append([]jinja.Value{owner}, args...), named); err != nil {
			return jinja.Undefined(), err
		}
		return f(args, named)
	}), nil
}

// isMethod reports whether the function that was found behind a value is the
// library's method, and not one that a template put there.
func isMethod(owner jinja.Value, name, found string) bool {
	switch {
	case owner.IsString():
		return found == "str."+name
	case owner.IsList():
		return found == "list."+name
	case owner.IsDict():
		return found == "dict."+name || found == "loop."+name
	}
	return false
}

// format is the library's format, counted at each step: what is put in may
// have places of its own.
func (r *rendering) format(text string) callable {
	return func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		result := text
		for i, arg := range args {
			with, err := r.printed(arg)
			if err != nil {
				return jinja.Undefined(), err
			}
			place := fmt.Sprintf("{%d}", i)
			places := int64(strings.Count(result, place)) + 1
			if err := r.Grow(bounds.Add(bounds.Times(int64(len(result)), 2), bounds.Times(places, bounds.Times(with, 2)))); err != nil {
				return jinja.Undefined(), err
			}
			word, err := r.natives.print(arg)
			if err != nil {
				return jinja.Undefined(), err
			}
			result = strings.Replace(strings.ReplaceAll(result, place, word), "{}", word, 1)
		}
		return jinja.NewString(result), nil
	}
}

func appendCost(g given) (int64, error) {
	list := g.arg(0, "").AsList()
	if len(list.Items) < cap(list.Items) {
		return 0, nil
	}
	return bounds.Times(int64(len(list.Items))+8, 48), nil
}

func changedCost(g given) (int64, error) {
	for _, v := range g.args[1:] {
		if _, err := g.r.scan(v); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func searchCost(g given) (int64, error) {
	return bounds.Times(int64(len(textOf(g.arg(0, "")))), 6), nil
}

func stripCost(g given) (int64, error) {
	if len(g.args) < 2 {
		return 0, nil
	}
	return 0, trimming(int64(len(textOf(g.args[0]))), g.args[1])
}

func popCost(g given) (int64, error) { return bounds.Times(length(g.arg(0, "")), 16), nil }

func updateCost(g given) (int64, error) { return bounds.Times(length(g.arg(1, "")), 128), nil }

func methodReplaceCost(g given) (int64, error) {
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
func splitCost(g given) (int64, error) {
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
