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
	// settled is how old a manifest must be when it is read for what it says to
	// be remembered. One that changes later has another time then, also where
	// the clock of the file system is coarse: some count in steps of 2 s.
	settled = 3 * time.Second

	// maxNoted is the most bytes of a manifest that is remembered; most have
	// about 1,000.
	maxNoted = 64 << 10
)

// memo remembers what manifests say, so that whoever lists a thousand models
// reads none of them again. It answers only where the system says that a path
// has the same file still, with the same time and size: nothing has to tell it
// of changes, those of other processes least of all.
type memo struct {
	mu      sync.Mutex
	models  map[string]noted  // by the path of the manifest
	skipped map[string]string // why, by the path; a reason is logged once
}

type noted struct {
	file  fs.FileInfo
	model Model
}

// find is nil where the file has to be read.
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

// note remembers a model that was just read from a file.
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

// isNew reports whether a file is skipped for a reason that was not heard yet.
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

// keep forgets every path that is not among those that exist.
func (m *memo) keep(exists func(path string) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.models, func(path string, _ noted) bool { return !exists(path) })
	maps.DeleteFunc(m.skipped, func(path string, _ string) bool { return !exists(path) })
}
