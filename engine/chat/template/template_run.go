package template

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ardanlabs/jinja"
)

// refusal is what a template said with raise_exception.
type refusal struct{ message string }

func (r *refusal) Error() string { return "the chat template refuses: " + r.message }

var (
	errSlow  = errors.New("the chat template takes too long")
	errStuck = errors.New("an earlier rendering of the chat template has not ended")
)

// run executes the template on vars, which it may change. A template that
// calls raise_exception gives a *refusal.
func (t *Template) run(ctx context.Context, vars map[string]jinja.Value) (string, error) {
	return t.bounded(ctx, func(ctx context.Context) (string, error) {
		r := t.rendering(ctx)
		defer r.end()
		r.functions(vars, t.guards)
		return r.render(t.compiled, vars)
	})
}

// bounded does work for which a template has so much time.
func (t *Template) bounded(ctx context.Context, work func(context.Context) (string, error)) (string, error) {
	if t.stuck.Load() > 0 {
		return "", errStuck
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.limit, errSlow)
	defer cancel()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := work(ctx)
		done <- result{text, err}
	}()
	// The guards end a rendering within one step of a loop. What they cannot
	// reach is one long expression: until that is over the template rests, so
	// that at most the renderings of this moment are lost.
	slow := time.NewTimer(t.limit)
	defer slow.Stop()
	select {
	case res := <-done:
		return res.text, res.err
	case <-slow.C:
	}
	t.stuck.Add(1)
	go func() {
		<-done
		t.stuck.Add(-1)
	}()
	return "", errSlow
}

// rendering is the state of one run of a template.
type rendering struct {
	ctx     context.Context
	now     func() time.Time
	natives *natives
	start   uint64 // size of the heap when it began
	limit   int64  // bytes that may be added to it
	made    int64  // bytes since the heap was last looked at
	total   int64  // bytes of what is counted before it is made
	given   int64  // bytes of what a Go template is given, written out
	depth   int
	owned   jinja.Value // what the next method is of
	refused *refusal

	turns *turnstile
	alone bool // it has the slot of turns
}

// rendering begins one, which ends with ctx. Its end must be told.
func (t *Template) rendering(ctx context.Context) *rendering {
	return &rendering{ctx: ctx, now: t.now, natives: t.natives, start: heapSize(), limit: int64(t.heap), turns: t.turns}
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
	case len(text) > maxPrompt:
		return "", fmt.Errorf("the prompt has %d bytes, more than %d", len(text), maxPrompt)
	}
	return text, nil
}

// functions adds what a template may call to its variables.
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
		vars[name] = jinja.NewCallable(name, r.counted(cost, r.natives.functions[name]))
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
	if r.depth++; r.depth > maxMacroDepth {
		return jinja.Undefined(), fmt.Errorf("macros nest deeper than %d", maxMacroDepth)
	}
	if r.depth > ownDepth {
		if err := r.begin(); err != nil {
			return jinja.Undefined(), err
		}
	}
	return r.step(nil)
}

func (r *rendering) leave([]jinja.Value) (jinja.Value, error) {
	r.depth--
	return jinja.NewString(""), nil
}

// inside is around an expression before which enter was called.
func (r *rendering) inside(args []jinja.Value) (jinja.Value, error) {
	r.depth--
	return args[1], nil
}

// step begins the body of a loop, which may be one inside of itself.
func (r *rendering) step(args []jinja.Value) (jinja.Value, error) {
	if len(args) > 0 && numberOf(args[0]) > maxMacroDepth {
		return jinja.Undefined(), fmt.Errorf("a loop nests deeper than %d", maxMacroDepth)
	}
	return jinja.NewString(""), r.look(0)
}

func (r *rendering) strftimeNow(args []jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.Undefined(), errors.New("strftime_now wants one string")
	}
	format := args[0].AsString()
	if err := r.grow(times(int64(len(format)), 32)); err != nil {
		return jinja.Undefined(), err
	}
	return jinja.NewString(strftime(r.now(), format)), nil
}

func (r *rendering) raise(args []jinja.Value) (jinja.Value, error) {
	message := "(no reason given)"
	if len(args) > 0 && args[0].IsString() {
		message = args[0].AsString()
		message = message[:min(len(message), 8*maxRefusal)] // it is clipped later
	}
	r.refused = &refusal{message}
	return jinja.Undefined(), r.refused
}

// rangeOf is Python's range as a list, bounded.
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
		if err := r.grow(64); err != nil {
			return jinja.Undefined(), err
		}
		items = append(items, jinja.NewInt(i))
	}
	return jinja.NewList(items), nil
}
