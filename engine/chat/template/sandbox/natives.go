package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
)

func newNatives() (*natives, error) {
	n := &natives{operations: map[string]*jinja.Template{}}
	var err error
	if n.filters, err = fetch(slices.Sorted(maps.Keys(filterCosts)), hiddenFilter); err != nil {
		return nil, err
	}
	if n.functions, err = fetch(slices.Sorted(maps.Keys(functionCosts)), ""); err != nil {
		return nil, err
	}
	for _, operator := range []string{"+", "~", "*", "%"} {
		if n.operations[operator], err = jinja.Compile("{{ take(a " + operator + " b) }}"); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// fetch returns functions of the library.
func fetch(names []string, prefix string) (map[string]callable, error) {
	t, err := jinja.Compile("{{ take(" + prefix + strings.Join(names, ", "+prefix) + ") }}")
	if err != nil {
		return nil, err
	}
	found := map[string]callable{}
	_, err = t.RenderValues(map[string]jinja.Value{"take": jinja.NewCallable("take", func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		for i, v := range args {
			if !v.IsCallable() {
				return jinja.Undefined(), fmt.Errorf("the template library has no %s", names[i])
			}
			found[names[i]] = v.AsCallable().Fn
		}
		return jinja.NewString(""), nil
	})})
	return found, err
}

// operate runs the library's operation.
func (n *natives) operate(operator string, a, b jinja.Value) (jinja.Value, error) {
	result := jinja.Undefined()
	_, err := n.operations[operator].RenderValues(map[string]jinja.Value{
		"a": a, "b": b,
		"take": jinja.NewCallable("take", func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			result = args[0]
			return jinja.NewString(""), nil
		}),
	})
	return result, err
}

// print converts a value to a string.
func (n *natives) print(v jinja.Value) (string, error) {
	text, err := n.filters["string"]([]jinja.Value{v}, nil)
	return textOf(text), err
}

// list returns the items of a value, none if it is not iterable.
func (n *natives) list(v jinja.Value) ([]jinja.Value, error) {
	if !v.IsList() && !v.IsDict() && !v.IsString() {
		return nil, nil
	}
	list, err := n.filters["list"]([]jinja.Value{v}, nil)
	if err != nil {
		return nil, err
	}
	if !list.IsList() {
		return nil, errors.New("the template library's list is none")
	}
	return list.AsList().Items, nil
}
