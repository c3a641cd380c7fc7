package registry

import (
	"sync"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine/models/store"
)

// Status says what is done about a layer.
type Status string

// The statuses. For one layer they come in this order, of [StatusPresent]
// and the two before it only one.
const (
	StatusDownload Status = "download" // Done rises
	StatusUpload   Status = "upload"   // Done rises; it falls to 0 when an upload begins anew
	StatusPresent  Status = "present"  // it was there already
	StatusCheck    Status = "check"    // all is here; its digest is made
	StatusDone     Status = "done"
)

// Progress is how far one layer is. A bar per Layer can be made of it.
type Progress struct {
	Layer     digest.Digest
	MediaType string
	Status    Status
	Total     int64 // bytes of the layer
	Done      int64 // bytes that are where they should be, those of earlier attempts included
	Resumed   int64 // bytes of Done that an earlier attempt left; for speed and time left they do not count
}

// interval is how often a layer's progress is reported at most while its
// status stays the same.
const interval = 50 * time.Millisecond

// board passes the progress of all layers on, one report at a time.
type board struct {
	mu     sync.Mutex
	report func(Progress)
}

// meter is the progress of one layer.
type meter struct {
	board *board
	now   Progress
	last  time.Time
}

func (b *board) meter(l store.Layer) *meter {
	return &meter{board: b, now: Progress{Layer: l.Digest, MediaType: l.MediaType, Total: l.Size}}
}

// turn gives the layer another status, with so many bytes done.
func (m *meter) turn(status Status, done int64) {
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	m.now.Status, m.now.Done = status, done
	m.send()
}

// resumed is turn for bytes that an earlier attempt left.
func (m *meter) resumed(status Status, done int64) {
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	m.now.Status, m.now.Done, m.now.Resumed = status, done, done
	m.send()
}

// moved adds bytes.
func (m *meter) moved(n int64) {
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	m.now.Done += n
	if time.Since(m.last) >= interval {
		m.send()
	}
}

// send needs the lock of the board.
func (m *meter) send() {
	m.last = time.Now()
	if m.board.report != nil {
		m.board.report(m.now)
	}
}
