package sandbox

import (
	"fmt"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// operate charges for a binary operation and runs it.
func (r *rendering) operate(args []jinja.Value) (jinja.Value, error) {
	operator, a, b := args[0].AsString(), args[1], args[2]
	bytes, err := r.operationCost(operator, a, b)
	if err == nil {
		err = r.Charge(bytes)
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	if (operator == "+" || operator == "~") && a.IsString() && b.IsString() {
		return jinja.NewString(a.AsString() + b.AsString()), nil
	}
	return r.natives.operate(operator, a, b)
}

func (r *rendering) operationCost(operator string, a, b jinja.Value) (int64, error) {
	switch {
	case operator == "*":
		return repeated(a, b), nil
	case operator == "%":
		return r.formatted(a, b)
	case operator == "+" && a.IsList() && b.IsList():
		return bounds.Times(bounds.Add(length(a), length(b)), 24), nil
	case operator == "+" && !a.IsString() && !b.IsString():
		return 0, nil
	}
	left, err := r.printed(a)
	if err != nil {
		return 0, err
	}
	right, err := r.printed(b)
	return bounds.Add(left, right), err
}

// repeated is the cost of a string or list times a number.
func repeated(a, b jinja.Value) int64 {
	size := func(v jinja.Value) int64 {
		if v.IsList() {
			return bounds.Times(length(v), 24)
		}
		return int64(len(textOf(v)))
	}
	count := func(v jinja.Value) int64 {
		if v.IsInt() || v.IsBool() {
			return numberOf(v)
		}
		return 0
	}
	return max(bounds.Times(size(a), count(b)), bounds.Times(size(b), count(a)))
}

// formatted is the cost of a printf operation.
func (r *rendering) formatted(a, b jinja.Value) (int64, error) {
	if !a.IsString() {
		return 0, nil
	}
	word, err := r.printed(b)
	return bounds.FormatSize(a.AsString(), word, tupleLength(b)), err
}

func tupleLength(v jinja.Value) int {
	if v.IsList() {
		return v.AsList().Len()
	}
	return 1
}

// output guards a conversion to a string.
func (r *rendering) output(args []jinja.Value) (jinja.Value, error) {
	n, err := r.printed(args[0])
	if err == nil {
		err = r.Charge(n)
	}
	return args[0], err
}

// iterate guards what a loop iterates over.
func (r *rendering) iterate(args []jinja.Value) (jinja.Value, error) {
	return args[0], r.Charge(bounds.Add(iterated(args[0]), bounds.Times(length(args[0]), 24)))
}

// compare guards an operand of a comparison, which walks over lists and dicts.
func (r *rendering) compare(args []jinja.Value) (jinja.Value, error) {
	if v := args[0]; !v.IsList() && !v.IsDict() {
		return v, nil
	}
	_, err := r.scan(args[0])
	return args[0], err
}

// test guards an operand of a test.
func (r *rendering) test(args []jinja.Value) (jinja.Value, error) {
	if err := r.Charge(bounds.Times(int64(len(textOf(args[0]))), 3)); err != nil {
		return jinja.Undefined(), err
	}
	return r.compare(args)
}

// item guards an indexed value: a string is converted to a list.
func (r *rendering) item(args []jinja.Value) (jinja.Value, error) {
	return args[0], r.Charge(bounds.Times(int64(len(textOf(args[0]))), 4))
}

// slice guards a sliced value.
func (r *rendering) slice(args []jinja.Value) (jinja.Value, error) {
	v, bytes := args[0], int64(0)
	switch {
	case v.IsList():
		bytes = bounds.Times(length(v), 24)
	case v.IsString() && !isASCII(v.AsString()):
		bytes = bounds.Times(int64(len(v.AsString())), 16)
	case v.IsString():
		bytes = bounds.Times(int64(len(v.AsString())), 2)
	}
	return v, r.Charge(bytes)
}

// callee guards a called value: if it is no function, the library's error would
// print it.
func (r *rendering) callee(args []jinja.Value) (jinja.Value, error) {
	v := args[0]
	if v.IsDict() {
		if _, ok := v.AsDict().Get("__call__"); ok {
			return v, nil
		}
	}
	if !v.IsCallable() {
		return jinja.Undefined(), fmt.Errorf("the chat template calls a value that is not a function")
	}
	return v, nil
}
