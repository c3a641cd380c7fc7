package sandbox

import (
	"fmt"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// filters adds guarded versions of the library's filters, under names of their own.
func (r *rendering) filters(vars map[string]jinja.Value, names guards) {
	for name := range filterCosts {
		vars[names.name(guardFilter+name)] = jinja.NewCallable(name, r.filter(name))
	}
}

func (r *rendering) filter(name string) callable {
	native := r.natives.filters[name]
	if name == "map" {
		native = r.mapped(native)
	}
	return r.charged(filterCosts[name], native)
}

// charged wraps a function that charges its cost first.
func (r *rendering) charged(c cost, f callable) callable {
	return func(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		g := callArgs{r, args, named}
		bytes, err := c(g)
		if err != nil {
			return jinja.Undefined(), err
		}
		options, err := g.options()
		if err == nil {
			err = r.Charge(bounds.Add(bytes, options))
		}
		if err != nil {
			return jinja.Undefined(), err
		}
		return f(args, named)
	}
}

// options is the cost of list and dict arguments, which the library may print.
func (g callArgs) options() (int64, error) {
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

// mapped is the filter map, which calls others by name: it must call guarded ones.
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
