package registry

import (
	"sync"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine/models/store"
)

// Status is the state of a layer's transfer.
type Status string

// The statuses of a layer, in order. It has only one of the first three.
const (
	StatusDownload Status = "download" // Done rises
	StatusUpload   Status = "upload"   // Done rises; a retry resets it to 0
	StatusPresent  Status = "present"  // exists already
	StatusCheck    Status = "check"    // downloaded; its digest is checked
	StatusDone     Status = "done"
)

// Progress is the progress of one layer.
type Progress struct {
	Layer     digest.Digest
	MediaType string
	Status    Status
	Total     int64 // bytes of the layer
	Done      int64 // bytes transferred, including those of earlier runs
	Resumed   int64 // bytes of Done from earlier runs, which do not count for speed
}

// interval is the minimum time between two reports of the same status.
const interval = 50 * time.Millisecond

// board serializes the reports of all layers.
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

// turn changes the status.
func (m *meter) turn(status Status, done int64) {
	m.board.mu.Lock()
	defer m.board.mu.Unlock()
	m.now.Status, m.now.Done = status, done
	m.send()
}

// resumed is turn with bytes of earlier runs.
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

// send requires the lock of the board.
func (m *meter) send() {
	m.last = time.Now()
	if m.board.report != nil {
		m.board.report(m.now)
	}
}
