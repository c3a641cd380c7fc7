package sandbox

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
)

const (
	maxRange      = 100_000 // items of range(), as in Jinja's own sandbox
	maxMacroDepth = 1000    // nested calls of macros, and recursion of loops
	maxMessage    = 4 << 10 // bytes of a template's own error message, clipped later
)

// Template is a Jinja template, compiled.
type Template struct {
	compiled *jinja.Template
	guards   guards
	natives  *natives
}

// Compile compiles a source, with placeholders of special for special tokens.
func Compile(source string, special *control.Tokens) (*Template, error) {
	unique := "_"
	for strings.Contains(source, unique) {
		unique += "_"
	}
	g := guards(unique)
	lexed, err := prelex(source, g, special)
	if err != nil {
		return nil, fmt.Errorf("read the chat template: %w", err)
	}
	compiled, err := jinja.Compile(lexed)
	if err != nil {
		return nil, fmt.Errorf("compile the chat template: %w", err)
	}
	natives, err := newNatives()
	if err != nil {
		return nil, err
	}
	return &Template{compiled: compiled, guards: g, natives: natives}, nil
}

// Render executes the template on vars, which it may change. now is its clock.
// raise_exception returns a *Refusal.
func (s *Template) Render(m *bounds.Meter, now func() time.Time, vars map[string]jinja.Value) (string, error) {
	r := &rendering{Meter: m, now: now, natives: s.natives}
	r.functions(vars, s.guards)
	return r.render(s.compiled, vars)
}

func (r *rendering) render(t *jinja.Template, vars map[string]jinja.Value) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the template engine panicked: %v", p)
		}
	}()
	text, err = t.RenderValues(vars)
	switch {
	case r.refused != nil:
		return "", r.refused
	case err != nil:
		return "", err
	case len(text) > bounds.MaxPrompt:
		return "", fmt.Errorf("the prompt has %d bytes, more than %d", len(text), bounds.MaxPrompt)
	}
	return text, nil
}

// functions adds the functions and guards to a template's variables.
func (r *rendering) functions(vars map[string]jinja.Value, g guards) {
	add := func(name string, f func(args []jinja.Value) (jinja.Value, error)) {
		vars[name] = jinja.NewCallable(name, func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			return f(args)
		})
	}
	add("strftime_now", r.strftimeNow)
	add("raise_exception", r.raise)
	add("range", r.rangeOf)
	for name, cost := range functionCosts {
		vars[name] = jinja.NewCallable(name, r.charged(cost, r.natives.functions[name]))
	}
	for name, f := range map[string]func([]jinja.Value) (jinja.Value, error){
		guardStep:      r.step,
		guardEnter:     r.enter,
		guardLeave:     r.leave,
		guardInside:    r.inside,
		guardOutput:    r.output,
		guardIterated:  r.iterate,
		guardOperation: r.operate,
		guardCompared:  r.compare,
		guardTested:    r.test,
		guardItem:      r.item,
		guardSliced:    r.slice,
		guardOwner:     r.owner,
		guardMethod:    r.method,
		guardCallee:    r.callee,
	} {
		add(g.name(name), f)
	}
	r.filters(vars, g)
}

// enter begins the body of a macro.
func (r *rendering) enter([]jinja.Value) (jinja.Value, error) {
	depth, err := r.Enter()
	if depth > maxMacroDepth {
		err = fmt.Errorf("macros nest deeper than %d", maxMacroDepth)
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	return r.step(nil)
}

func (r *rendering) leave([]jinja.Value) (jinja.Value, error) {
	r.Leave()
	return jinja.NewString(""), nil
}

// inside ends what enter began, and returns its second argument.
func (r *rendering) inside(args []jinja.Value) (jinja.Value, error) {
	r.Leave()
	return args[1], nil
}

// step begins the body of a loop, which may be recursive.
func (r *rendering) step(args []jinja.Value) (jinja.Value, error) {
	if len(args) > 0 && numberOf(args[0]) > maxMacroDepth {
		return jinja.Undefined(), fmt.Errorf("a loop nests deeper than %d", maxMacroDepth)
	}
	return jinja.NewString(""), r.Check(0)
}

func (r *rendering) strftimeNow(args []jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.Undefined(), errors.New("strftime_now wants one string")
	}
	format := args[0].AsString()
	if err := r.Charge(bounds.Times(int64(len(format)), 32)); err != nil {
		return jinja.Undefined(), err
	}
	return jinja.NewString(strftime(r.now(), format)), nil
}

func (r *rendering) raise(args []jinja.Value) (jinja.Value, error) {
	message := "(no reason given)"
	if len(args) > 0 && args[0].IsString() {
		message = args[0].AsString()
		message = message[:min(len(message), maxMessage)]
	}
	r.refused = &Refusal{message}
	return jinja.Undefined(), r.refused
}

// rangeOf is Python's range as a list of limited length.
func (r *rendering) rangeOf(args []jinja.Value) (jinja.Value, error) {
	var n [3]int64
	for i, a := range args {
		if i == len(n) || !a.IsInt() {
			return jinja.Undefined(), errors.New("range wants one to three integers")
		}
		n[i] = a.AsInt()
	}
	start, stop, step := n[0], n[1], n[2]
	switch len(args) {
	case 0:
		return jinja.Undefined(), errors.New("range wants one to three integers")
	case 1:
		start, stop, step = 0, n[0], 1
	case 2:
		step = 1
	}
	if step == 0 {
		return jinja.Undefined(), errors.New("range wants a step other than 0")
	}
	var items []jinja.Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		if len(items) == maxRange {
			return jinja.Undefined(), fmt.Errorf("range has more than %d items", maxRange)
		}
		if err := r.Charge(64); err != nil {
			return jinja.Undefined(), err
		}
		items = append(items, jinja.NewInt(i))
	}
	return jinja.NewList(items), nil
}
