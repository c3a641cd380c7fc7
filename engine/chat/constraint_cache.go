package chat

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// Bounds of what an engine keeps. An agent sends the same two dozen tools with
// each of its requests, and compiling them takes longer than several decode
// steps.
const (
	maxConstraints     = 16       // that no request uses
	maxConstraintBytes = 32 << 20 // of these
	maxUsedBytes       = 96 << 20 // of all
	// maxCompiling is how many requests at a time do more than a little work
	// on their schemas.
	maxCompiling = 1
)

// constraintCache holds the constraints that requests use, and those that were
// used last. Requests that want the same at once wait for one compilation.
type constraintCache struct {
	gate *grammar.Gate

	mu      sync.Mutex
	entries []*constraintEntry // used last at the end
	bytes   int                // of all entries
}

type constraintEntry struct {
	key      [sha256.Size]byte
	users    int
	done     chan struct{} // closed when the next two are there
	compiled *format.Constraint
	err      error
}

func newConstraintCache() *constraintCache {
	return &constraintCache{gate: grammar.NewGate(maxCompiling)}
}

// get returns what compile returned for the same key before, or now, and what
// gives it back. Errors are not kept. compile gets a context with the budget
// of the request.
func (c *constraintCache) get(ctx context.Context, key [sha256.Size]byte, compile func(context.Context) (*format.Constraint, error)) (*format.Constraint, func(), error) {
	for {
		e, mine := c.enter(key)
		if mine {
			c.fill(ctx, e, compile)
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			c.leave(e)
			return nil, nil, engine.AsError(ctx.Err())
		}
		if e.err == nil {
			return e.compiled, sync.OnceFunc(func() { c.leave(e) }), nil
		}
		c.leave(e)
		err := engine.AsError(e.err)
		if mine || err.Code != engine.CodeCanceled && err.Code != engine.CodeDeadline {
			return nil, nil, new(*err) // whoever gets an error may add to it
		}
		// The one who compiled has left: the next one does.
	}
}

// enter returns the entry of a key, and whether it is new and to be filled.
func (c *constraintCache) enter(key [sha256.Size]byte) (_ *constraintEntry, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(e *constraintEntry) bool { return e.key == key })
	if i < 0 {
		e := &constraintEntry{key: key, users: 1, done: make(chan struct{})}
		c.entries = append(c.entries, e)
		return e, true
	}
	e := c.entries[i]
	e.users++
	c.entries = append(slices.Delete(c.entries, i, i+1), e)
	return e, false
}

// fill compiles.
func (c *constraintCache) fill(ctx context.Context, e *constraintEntry, compile func(context.Context) (*format.Constraint, error)) {
	e.err = engine.Errorf(engine.CodeInternal, "Internal error.") // what others see if compile panics
	defer close(e.done)
	defer func() {
		if e.compiled == nil {
			c.forget(e)
		}
	}()
	budget := grammar.NewBudget(grammar.DefaultLimits(), c.gate)
	defer budget.Close()
	made, err := compile(budget.Context(ctx))
	if err == nil {
		err = c.take(made.Size)
	}
	if e.err = err; err == nil {
		e.compiled = made
	}
}

// take counts the bytes of something new, if there is room for them.
func (c *constraintCache) take(size int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += size
	if c.evict(); c.bytes <= maxUsedBytes {
		return nil
	}
	c.bytes -= size
	err := engine.Errorf(engine.CodeOverloaded, "The schemas of the requests that run take too much memory.")
	err.RetryAfter = 1
	return err
}

func (c *constraintCache) forget(e *constraintEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(e)
}

// leave ends one use of an entry.
func (c *constraintCache) leave(e *constraintEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	c.evict()
}

// evict drops what no request uses, the oldest first, until the rest is
// within bounds.
func (c *constraintCache) evict() {
	var unused []*constraintEntry
	bytes := 0
	for _, e := range c.entries {
		if e.users == 0 {
			unused, bytes = append(unused, e), bytes+e.compiled.Size
		}
	}
	for i, e := range unused {
		if len(unused)-i <= maxConstraints && bytes <= maxConstraintBytes && c.bytes <= maxUsedBytes {
			return
		}
		bytes -= e.compiled.Size
		c.bytes -= e.compiled.Size
		c.remove(e)
	}
}

func (c *constraintCache) remove(e *constraintEntry) {
	if i := slices.Index(c.entries, e); i >= 0 {
		c.entries = slices.Delete(c.entries, i, i+1)
	}
}

// constraintKey tells requests apart by all that their constraint depends on.
func constraintKey(req *engine.Request, opening string) [sha256.Size]byte {
	h := sha256.New()
	for _, t := range req.Tools {
		hashText(h, t.Name)
		hashText(h, string(t.Parameters))
	}
	c := req.ToolChoice
	fmt.Fprintf(h, "%q %q %v %q %q %q %v ", c.Mode, c.Names, c.Single, req.Format.Kind, req.Reasoning.Mode, opening, req.Prompt != nil)
	hashText(h, string(req.Format.Schema))
	return [sha256.Size]byte(h.Sum(nil))
}

// hashText adds a text with its length, so that no two lists are alike.
func hashText(h hash.Hash, text string) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	_, _ = io.WriteString(h, text)
}
