package sandbox

import (
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// owner notes the receiver of the method that is read next.
func (r *rendering) owner(args []jinja.Value) (jinja.Value, error) {
	r.owned = args[0]
	return args[0], nil
}

// method wraps an attribute if it is a method of the library.
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
	count := r.charged(methodCosts[name], func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) { return jinja.None(), nil })
	return jinja.NewCallable(found.AsCallable().Name, func(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		if _, err := count(append([]jinja.Value{owner}, args...), named); err != nil {
			return jinja.Undefined(), err
		}
		return f(args, named)
	}), nil
}

// isMethod reports whether a function is the library's method, and not an
// attribute that the template set.
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

// format is the library's str.format, charged at each step because inserted text
// may contain placeholders itself.
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
			if err := r.Charge(bounds.Add(bounds.Times(int64(len(result)), 2), bounds.Times(places, bounds.Times(with, 2)))); err != nil {
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
