package store

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// settled is the age from which a manifest is cached. A later change then has
	// another modification time even on file systems with 2 s resolution.
	settled = 3 * time.Second

	// maxNoted is the largest cached manifest, in bytes; most have about 1,000.
	maxNoted = 64 << 10
)

// memo caches manifests, so that a list of a thousand models reads none again. An
// entry is valid while its file has the same inode, size and modification time,
// so it needs no invalidation when another process changes the store.
type memo struct {
	mu      sync.Mutex
	models  map[string]noted  // by path of the manifest
	skipped map[string]string // logged reason, by path
}

type noted struct {
	file  fs.FileInfo
	model Model
}

// find returns nil if the file has to be read.
func (m *memo) find(path string) *Model {
	m.mu.Lock()
	n, ok := m.models[path]
	m.mu.Unlock()
	if !ok {
		return nil
	}
	now, err := os.Stat(path)
	if err != nil || !n.file.ModTime().Equal(now.ModTime()) || n.file.Size() != now.Size() || !os.SameFile(n.file, now) {
		return nil
	}
	return &n.model
}

// note caches a model that was just read.
func (m *memo) note(path string, file fs.FileInfo, model *Model) {
	if time.Since(file.ModTime()) < settled || len(model.Raw) > maxNoted {
		return
	}
	shared := *model
	shared.Raw, shared.Manifest.Layers = slices.Clip(model.Raw), slices.Clip(model.Manifest.Layers)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.models == nil {
		m.models = map[string]noted{}
	}
	m.models[path] = noted{file, shared}
}

// isNew reports whether the reason to skip a file has not been logged yet.
func (m *memo) isNew(path string, reason error) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.skipped == nil {
		m.skipped = map[string]string{}
	}
	old, ok := m.skipped[path]
	m.skipped[path] = reason.Error()
	return !ok || old != reason.Error()
}

// keep drops paths that no longer exist.
func (m *memo) keep(exists func(path string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.models, func(path string, _ noted) bool { return !exists(path) })
	maps.DeleteFunc(m.skipped, func(path string, _ string) bool { return !exists(path) })
}
