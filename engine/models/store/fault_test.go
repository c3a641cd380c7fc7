package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFullDiskAtEveryStep forbids each verb each of its steps in turn: it
// must say so, leave what was there, and succeed when there is space again.
func TestFullDiskAtEveryStep(t *testing.T) {
	template := memoryDir(t)
	prepareStore(t, template)
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			steps := 0
			for failAt(t, v, template, steps+1) {
				steps++
			}
			if steps < 5 {
				t.Errorf("it failed at %d steps only", steps)
			}
		})
	}
}

// failAt is false where the verb came to its end before the step.
func failAt(t *testing.T, v verb, template string, step int) bool {
	t.Helper()
	dir := cloneStore(t, template)
	s := openTest(t, dir)
	count, place := 0, ""
	s.disk.step = func(what, path string) error {
		if count++; count == step {
			place = what + " " + path
			return syscall.ENOSPC
		}
		return nil
	}
	err := v.run(t.Context(), s)
	s.disk.step = nil
	switch {
	case err != nil && !errors.Is(err, syscall.ENOSPC):
		t.Errorf("step %d, %s: %v", step, place, err)
	case err != nil && !strings.Contains(err.Error(), "no space left for the model store "+dir):
		t.Errorf("step %d, %s: the error does not say what to do: %v", step, place, err)
	}
	if err := checkStore(s, before, after(v)); err != nil {
		t.Errorf("step %d, %s: %v", step, place, err)
	}
	for _, again := range []func(context.Context, *Store) error{v.run, func(ctx context.Context, s *Store) error {
		_, err := s.Collect(ctx)
		return err
	}} {
		if err := again(t.Context(), s); err != nil {
			t.Errorf("step %d, %s: again: %v", step, place, err)
		}
	}
	if err := errors.Join(checkStore(s, after(v), nil), checkNothingIsLeft(s)); err != nil {
		t.Errorf("step %d, %s: again: %v", step, place, err)
	}
	return place != ""
}

// steps is what a verb does on the disk, in order.
type steps []struct{ what, path string }

// TestPowerMayFail reads the steps of each verb: what a name stands for is on
// the disk before the name, and a name before what builds on it.
func TestPowerMayFail(t *testing.T) {
	for _, v := range verbs() {
		t.Run(v.name, func(t *testing.T) {
			dir := memoryDir(t)
			prepareStore(t, dir)
			s := openTest(t, dir)
			var log steps
			s.disk.step = func(what, path string) error {
				log = append(log, struct{ what, path string }{what, path})
				return nil
			}
			if err := v.run(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			log.check(t, s)
		})
	}
}

func (log steps) check(t *testing.T, s *Store) {
	t.Helper()
	removed := "" // the directory of a manifest whose removal is not on the disk
	for i, step := range log {
		next := struct{ what, path string }{"nothing", ""}
		if i+1 < len(log) {
			next = log[i+1]
		}
		if step.what == "rename" && strings.HasPrefix(filepath.Base(step.path), "manifest-") && log[:i].lastOn(s.blobs()) != "sync" {
			t.Errorf("%s was renamed before the names of blobs were on the disk", step.path)
		}
		below, _ := filepath.Rel(s.manifests(), step.path)
		_, isManifest := nameOf(below)
		switch {
		case step.what == "rename" && log[:i].lastOn(step.path) != "sync":
			t.Errorf("%s was renamed after %s, not sync", step.path, log[:i].lastOn(step.path))
		case step.what == "rename" && next.what != "sync":
			t.Errorf("after %s was renamed comes %s %s, not sync of the directory", step.path, next.what, next.path)
		case step.what == "mkdir" && (next.what != "sync" || next.path != filepath.Dir(step.path)):
			t.Errorf("after %s was made comes %s %s, not sync of the directory above", step.path, next.what, next.path)
		case step.what == "write" && strings.HasSuffix(step.path, journalEnding):
			data := strings.TrimSuffix(step.path, journalEnding) + dataEnding
			if log[:i].lastOn(data) == "write" {
				t.Errorf("%s was written before the data was on the disk", step.path)
			}
		case step.what == "remove" && isManifest:
			removed = filepath.Dir(step.path)
		case step.what == "sync" && step.path == removed:
			removed = ""
		case step.what == "remove" && removed != "":
			t.Errorf("%s was removed before the removal of the manifest in %s was on the disk", step.path, removed)
		}
	}
}

func (log steps) lastOn(path string) string {
	last := "nothing"
	for _, step := range log {
		if step.path == path {
			last = step.what
		}
	}
	return last
}
