package chat

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/format/formattest"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// keyOf is a key that differs by a byte.
func keyOf(b byte) [32]byte { return [32]byte{b} }

// ofSize compiles to something of so many bytes.
func ofSize(size int) func(context.Context) (*format.Constraint, error) {
	return func(context.Context) (*format.Constraint, error) { return &format.Constraint{Size: size}, nil }
}

// Requests that want the same at once wait for one compilation.
func TestConstraintOnce(t *testing.T) {
	c := newConstraintCache()
	var compilations atomic.Int32
	started, release := make(chan struct{}), make(chan struct{})
	compile := func(context.Context) (*format.Constraint, error) {
		compilations.Add(1)
		close(started)
		<-release
		return &format.Constraint{Size: 1}, nil
	}
	results := make(chan *format.Constraint)
	get := func() {
		made, leave, err := c.get(t.Context(), keyOf(1), compile)
		if err != nil {
			t.Error(err)
		} else {
			defer leave()
		}
		results <- made
	}
	go get()
	<-started
	for range 9 {
		go get()
	}
	close(release)
	first := <-results
	for range 9 {
		if <-results != first {
			t.Error("two compilations")
		}
	}
	if n := compilations.Load(); n != 1 {
		t.Errorf("%d compilations", n)
	}
}

// Where the one who compiles has left, the next one does it; who has left does
// not wait.
func TestConstraintLeft(t *testing.T) {
	c := newConstraintCache()
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		_, _, err := c.get(ctx, keyOf(1), func(ctx context.Context) (*format.Constraint, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if engine.AsError(err).Code != engine.CodeCanceled {
			t.Errorf("the first gets %v", err)
		}
	})
	<-started
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, _, err := c.get(gone, keyOf(1), ofSize(1)); engine.AsError(err).Code != engine.CodeCanceled {
		t.Errorf("who has left gets %v", err)
	}
	second := make(chan error)
	go func() {
		_, _, err := c.get(t.Context(), keyOf(1), ofSize(1))
		second <- err
	}()
	cancel()
	first.Wait()
	if err := <-second; err != nil {
		t.Errorf("the second gets %v", err)
	}
}

// Each request gets an error of its own, to which a style may add.
func TestConstraintErrors(t *testing.T) {
	c := newConstraintCache()
	broken := engine.Errorf(engine.CodeInvalidArgument, "No.")
	fail := func(context.Context) (*format.Constraint, error) { return nil, broken }
	_, _, one := c.get(t.Context(), keyOf(1), fail)
	_, _, two := c.get(t.Context(), keyOf(1), fail)
	engine.AsError(one).Param = "tools"
	if engine.AsError(two).Param != "" || broken.Param != "" || len(c.entries) != 0 {
		t.Errorf("an error is shared or kept: %v, %v", two, c.entries)
	}
	defer func() {
		if recover() == nil || len(c.entries) != 0 {
			t.Error("a panic is kept")
		}
	}()
	// A bug in compiling shows as a panic.
	_, _, _ = c.get(t.Context(), keyOf(2), func(context.Context) (*format.Constraint, error) { panic("x") }) // what is tested
}

// What is kept is bounded by bytes, what is in use is not dropped, and beyond
// the bytes of all nothing new comes in.
func TestConstraintBytes(t *testing.T) {
	c := newConstraintCache()
	kept := func() (n int) {
		for _, e := range c.entries {
			n += e.compiled.Size
		}
		if n != c.bytes {
			t.Errorf("%d bytes are kept and %d counted", n, c.bytes)
		}
		return n
	}
	for i := range 40 {
		_, leave, err := c.get(t.Context(), keyOf(byte(i)), ofSize(maxConstraintBytes/8))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		leave() // twice is once
	}
	if n := kept(); n != maxConstraintBytes {
		t.Errorf("%d bytes are kept, want %d", n, maxConstraintBytes)
	}
	var leaves []func()
	var err error
	for i := byte(100); err == nil; i++ {
		var leave func()
		if _, leave, err = c.get(t.Context(), keyOf(i), ofSize(maxUsedBytes/10)); err == nil {
			leaves = append(leaves, leave)
		}
	}
	if e := engine.AsError(err); e.Code != engine.CodeOverloaded || e.RetryAfter == 0 || len(leaves) != 10 {
		t.Errorf("got %v after %d in use, want %s after 10", err, len(leaves), engine.CodeOverloaded)
	}
	kept()
	for _, leave := range slices.Backward(leaves) {
		leave()
	}
	if n := kept(); n > maxConstraintBytes || len(c.entries) > maxConstraints {
		t.Errorf("%d bytes in %d entries are kept", n, len(c.entries))
	}
	if _, _, err := c.get(t.Context(), keyOf(255), ofSize(1)); err != nil {
		t.Errorf("nothing comes in any more: %v", err)
	}
}

// Whatever ends a request gives its constraint back.
func TestConstraintGivenBack(t *testing.T) {
	for name, change := range map[string]func(*Engine, *engine.Request){
		"answer":     func(*Engine, *engine.Request) {},
		"no room":    func(e *Engine, _ *engine.Request) { e.info.Context = 1 },
		"broken":     func(e *Engine, _ *engine.Request) { e.model.(*fakeModel).broken = errors.New("broken") },
		"left early": func(_ *Engine, r *engine.Request) { r.Choices = 3 },
	} {
		e := testEngine("hermes", "", &fakeModel{pieces: []string{"a", "b"}, end: EndOfTurn})
		req := testRequest()
		req.Tools = formattest.Tools()
		change(e, req)
		for range e.Generate(t.Context(), req) {
			if name == "left early" {
				break
			}
		}
		_, _ = e.Count(t.Context(), req)
		if len(e.constraints.entries) != 1 || e.constraints.entries[0].users != 0 {
			t.Errorf("%s: a constraint is still in use", name)
		}
	}
}

// What was used last stays where there is too much of all together.
func TestConstraintsGoOldestFirst(t *testing.T) {
	c := newConstraintCache()
	get := func(key byte, size int) (leave func()) {
		_, leave, err := c.get(t.Context(), keyOf(key), ofSize(size))
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	defer get(1, maxUsedBytes*7/10)()
	for key := range byte(2) {
		get(10+key, maxUsedBytes/10)()
	}
	defer get(2, maxUsedBytes*15/100)()
	var kept []byte
	for _, e := range c.entries {
		kept = append(kept, e.key[0])
	}
	if want := []byte{1, 11, 2}; !slices.Equal(kept, want) {
		t.Errorf("kept are %v, want %v", kept, want)
	}
}

func TestConstraintCache(t *testing.T) {
	e := testEngine("hermes", "", &fakeModel{})
	get := func(change func(*engine.Request)) *grammar.Grammar {
		req := testRequest()
		req.Tools = formattest.Tools()
		if change != nil {
			change(req)
		}
		p := &plan{request: req}
		if err := e.constrain(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		p.close()
		return p.constraint
	}
	first := get(nil)
	if get(nil) != first {
		t.Error("the same request is compiled again")
	}
	for name, change := range map[string]func(*engine.Request){
		"mode":   func(r *engine.Request) { r.ToolChoice.Mode = engine.ToolRequired },
		"names":  func(r *engine.Request) { r.ToolChoice.Names = []string{"now"} },
		"single": func(r *engine.Request) { r.ToolChoice.Single = true },
		"tools":  func(r *engine.Request) { r.Tools = r.Tools[:1] },
		"format": func(r *engine.Request) { r.Format.Kind = engine.FormatJSON },
	} {
		if get(change) == first {
			t.Errorf("another %s gets the same constraint", name)
		}
	}
	for i := range maxConstraints {
		get(func(r *engine.Request) { r.Tools = []engine.Tool{{Name: string(rune('a' + i))}} })
	}
	if n := len(e.constraints.entries); n != maxConstraints {
		t.Errorf("%d constraints are kept", n)
	}
	if get(nil) == first {
		t.Error("the oldest constraint is still kept")
	}
}
