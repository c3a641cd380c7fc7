package chat

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/diglot/diglot/engine"
)

// maxConstraints is how many constraints an engine keeps. An agent sends the
// same two dozen tools with each of its requests, and compiling them takes
// longer than several decode steps.
const maxConstraints = 16

// constraintCache keeps the constraints that were used last. The zero value is
// ready.
type constraintCache struct {
	mu      sync.Mutex
	entries []constraintEntry // used last at the end
}

type constraintEntry struct {
	key      [sha256.Size]byte
	compiled *compiled
}

// get returns what compile returned for the same key before, or now. Errors are
// not kept. Two requests at once may both make the same.
func (c *constraintCache) get(key [sha256.Size]byte, compile func() (*compiled, error)) (*compiled, error) {
	if found := c.find(key); found != nil {
		return found, nil
	}
	made, err := compile()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) == maxConstraints {
		c.entries = slices.Delete(c.entries, 0, 1)
	}
	c.entries = append(c.entries, constraintEntry{key, made})
	return made, nil
}

func (c *constraintCache) find(key [sha256.Size]byte) *compiled {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.entries, func(e constraintEntry) bool { return e.key == key })
	if i < 0 {
		return nil
	}
	e := c.entries[i]
	c.entries = append(slices.Delete(c.entries, i, i+1), e)
	return e.compiled
}

// constraintKey tells requests apart by all that their constraint depends on.
func constraintKey(req *engine.Request, opening string) [sha256.Size]byte {
	h := sha256.New()
	for _, t := range req.Tools {
		fmt.Fprintf(h, "%q %q\n", t.Name, t.Parameters)
	}
	c := req.ToolChoice
	fmt.Fprintf(h, "%q %q %v\n%q %q\n%q %q %v", c.Mode, c.Names, c.Single, req.Format.Kind, req.Format.Schema, req.Reasoning.Mode, opening, req.Prompt != nil)
	return [sha256.Size]byte(h.Sum(nil))
}
