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

// Limits of the cache. Agents send the same two dozen tools with each request,
// and compiling them takes longer than several decode steps.
const (
	maxConstraints     = 16       // unused entries
	maxConstraintBytes = 32 << 20 // of unused entries
	maxUsedBytes       = 96 << 20 // of all entries
	// maxCompiling is how many requests may compile large schemas concurrently.
	maxCompiling = 1
)

// constraintCache holds the constraints in use and the most recently used ones.
// Concurrent requests for the same constraint share one compilation.
type constraintCache struct {
	gate *grammar.Gate

	mu      sync.Mutex
	entries []*constraintEntry // least recently used first
	bytes   int                // of all entries
}

type constraintEntry struct {
	key      [sha256.Size]byte
	users    int
	ready    chan struct{} // closed once compiled or err is set
	compiled *format.Constraint
	err      error
}

func newConstraintCache() *constraintCache {
	return &constraintCache{gate: grammar.NewGate(maxCompiling)}
}

// get returns the constraint of a key, compiled if it is not cached, and the
// function that releases it. Errors are not cached. The context of compile
// carries the budget of the request.
func (c *constraintCache) get(ctx context.Context, key [sha256.Size]byte, compile func(context.Context) (*format.Constraint, error)) (*format.Constraint, func(), error) {
	for {
		e, created := c.acquire(key)
		if created {
			c.fill(ctx, e, compile)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			c.release(e)
			return nil, nil, engine.AsError(ctx.Err())
		}
		if e.err == nil {
			return e.compiled, sync.OnceFunc(func() { c.release(e) }), nil
		}
		c.release(e)
		err := engine.AsError(e.err)
		if created || err.Code != engine.CodeCanceled && err.Code != engine.CodeDeadline {
			return nil, nil, new(*err) // a copy, because callers add to errors
		}
		// The client that compiled is gone: one that waits compiles instead.
	}
}

// acquire returns the entry of a key and reports whether the caller must compile it.
func (c *constraintCache) acquire(key [sha256.Size]byte) (_ *constraintEntry, created bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(e *constraintEntry) bool { return e.key == key })
	if i < 0 {
		e := &constraintEntry{key: key, users: 1, ready: make(chan struct{})}
		c.entries = append(c.entries, e)
		return e, true
	}
	e := c.entries[i]
	e.users++
	c.entries = append(slices.Delete(c.entries, i, i+1), e)
	return e, false
}

// fill compiles an entry and wakes those that wait for it.
func (c *constraintCache) fill(ctx context.Context, e *constraintEntry, compile func(context.Context) (*format.Constraint, error)) {
	e.err = engine.Errorf(engine.CodeInternal, "Internal error.") // what others see if compile panics
	defer close(e.ready)
	defer func() {
		if e.compiled == nil {
			c.forget(e)
		}
	}()
	budget := grammar.NewBudget(grammar.DefaultLimits(), c.gate)
	defer budget.Close()
	made, err := compile(budget.Context(ctx))
	if err == nil {
		err = c.reserve(made.Size)
	}
	if e.err = err; err == nil {
		e.compiled = made
	}
}

// reserve reserves the bytes of a new constraint, or reports that memory is short.
func (c *constraintCache) reserve(size int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += size
	if c.evict(); c.bytes <= maxUsedBytes {
		return nil
	}
	c.bytes -= size
	err := engine.Errorf(engine.CodeOverloaded, "The schemas of the running requests take too much memory.")
	err.RetryAfter = 1
	return err
}

func (c *constraintCache) forget(e *constraintEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(e)
}

// release ends one use of an entry.
func (c *constraintCache) release(e *constraintEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.users--
	c.evict()
}

// evict drops unused entries, least recently used first, until the limits hold.
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

// constraintKey hashes everything that a constraint depends on.
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

// hashText prefixes the length, so that ["ab", "c"] and ["a", "bc"] differ.
func hashText(h hash.Hash, text string) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	_, _ = io.WriteString(h, text)
}
