package runner

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/diglot/diglot/internal/plainjson"
)

const (
	// crashMemory is how long a request is remembered to have been running
	// in a process that crashed.
	crashMemory = time.Hour

	// maxCrashMemory bounds how many requests are remembered.
	maxCrashMemory = 1 << 10
)

// crashLog remembers which requests were running when a process crashed. A
// request that meets a second crash is likely to be the cause, and asking
// again would end the requests of others.
type crashLog struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]time.Time
}

// again notes that req, any of the requests of the engine package, met a
// crash, and says whether it has before.
func (c *crashLog) again(req any) bool {
	encoded, err := plainjson.Marshal(req) // with maps in order; read by nobody
	if err != nil {
		return false
	}
	key := sha256.Sum256(encoded)
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, at := range c.seen {
		if now.Sub(at) > crashMemory {
			delete(c.seen, k)
		}
	}
	_, before := c.seen[key]
	if c.seen == nil || len(c.seen) >= maxCrashMemory {
		c.seen = map[[sha256.Size]byte]time.Time{}
	}
	c.seen[key] = now
	return before
}
