//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

var sameContent = noise(2, 300_000)

// pullTogether says that it begins, and goes on after the first piece when
// the test lets it: when all others have begun.
func pullTogether(ctx context.Context, s *Store, o order) error {
	begun, goOn := os.NewFile(3, "begun"), os.NewFile(4, "go on")
	if _, err := begun.Write([]byte{1}); err != nil {
		return err
	}
	var waited error
	n := Name{"reg.example", "x", fmt.Sprintf("m%d", o.Seed), "t"}
	err := pullModel(ctx, s, n, sameContent, func(r Range) {
		fmt.Println(r.Offset, r.Length)
		_, waited = io.Copy(io.Discard, goOn)
	})
	return errors.Join(err, waited)
}

// TestProcessesFetchALayerOnce pulls models with the same layer at once.
func TestProcessesFetchALayerOnce(t *testing.T) {
	dir := memoryDir(t)
	begun, begin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	goOn, release, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var waits []func() (bool, string)
	for seed := range 4 {
		waits = append(waits, start(t, order{Dir: dir, Verb: "same layer", Seed: seed}, begin, goOn))
	}
	if _, err := io.ReadFull(begun, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{begun, begin, goOn, release} {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for _, wait := range waits {
		killed, text := wait()
		if killed {
			t.Error("a process was killed")
		}
		told = append(told, slices.Collect(strings.Lines(text))...)
	}
	if len(told) != pieces {
		t.Errorf("%d pieces were fetched, not %d: %q", len(told), pieces, told)
	}
	want := map[string]string{}
	for seed := range 4 {
		want[fmt.Sprintf("reg.example/x/m%d:t", seed)] = sameContent
	}
	if err := checkStore(openTest(t, dir), want, nil); err != nil {
		t.Error(err)
	}
}

// crowdRounds is how often each member of a crowd does everything.
const crowdRounds = 12

// crowd does all verbs on models that others work on as well, and on one of
// its own, which must stay whole.
func crowd(ctx context.Context, s *Store, seed int) error {
	own := Name{DefaultHost, "own", fmt.Sprintf("m%d", seed), DefaultTag}
	shared := Name{DefaultHost, "all", "m", DefaultTag}
	for round := range crowdRounds {
		content := noise(200+round%3, 5000)
		steps := []func() error{
			func() error { return createModel(ctx, s, own, content) },
			func() error { return createModel(ctx, s, shared, content) },
			func() error { return pullModel(ctx, s, shared, noise(300+round%2, 5000), func(Range) {}) },
			func() error { return ifFound(s.Copy(ctx, shared, Name{DefaultHost, "all", "copy", DefaultTag})) },
			func() error { return ifFound(s.Remove(ctx, shared)) },
			func() error { _, err := s.Collect(ctx); return err },
			func() error { _, err := s.List(ctx); return err },
		}
		for i, step := range steps {
			if err := step(); err != nil {
				return fmt.Errorf("round %d, step %d: %w", round, i, err)
			}
			if err := checkContent(s, own, content); err != nil {
				return fmt.Errorf("round %d, step %d: %w", round, i, err)
			}
		}
	}
	return nil
}

func checkContent(s *Store, n Name, want string) error {
	m, err := s.Model(n)
	if err != nil {
		return err
	}
	content, err := contentOf(s, m)
	if err == nil && content != want {
		err = fmt.Errorf("model %s has other content", n)
	}
	return err
}

func TestCrowdOfProcesses(t *testing.T) {
	dir := memoryDir(t)
	prepareStore(t, dir)
	var waits []func() (bool, string)
	for seed := range 3 {
		waits = append(waits, start(t, order{Dir: dir, Verb: "crowd", Seed: seed}))
	}
	for _, wait := range waits {
		if killed, _ := wait(); killed {
			t.Error("a process was killed")
		}
	}
	checkCrowd(t, openTest(t, dir))
}

func TestCrowdOfGoroutines(t *testing.T) {
	dir := memoryDir(t)
	prepareStore(t, dir)
	s := openTest(t, dir)
	var wait sync.WaitGroup
	for seed := range 3 {
		wait.Go(func() {
			if err := crowd(t.Context(), s, seed); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	checkCrowd(t, s)
}

// checkCrowd finds what was there before, whole, and nothing unused.
func checkCrowd(t *testing.T, s *Store) {
	t.Helper()
	if err := s.checkWhole(before); err != nil {
		t.Error(err)
	}
	// Content that was downloaded is kept for a day, so name all of it.
	for seed := range 2 {
		n := Name{DefaultHost, "own", fmt.Sprintf("late%d", seed), DefaultTag}
		if err := pullModel(t.Context(), s, n, noise(300+seed, 5000), func(Range) {}); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Collect(t.Context()); err != nil {
		t.Error(err)
	}
	if err := checkNothingIsLeft(s); err != nil {
		t.Error(err)
	}
}

// checkWhole reads all models; those of want must be among them.
func (s *Store) checkWhole(want map[string]string) error {
	models, err := s.List(context.Background())
	if err != nil {
		return err
	}
	found := map[string]string{}
	for _, m := range models {
		if found[m.Name.String()], err = contentOf(s, m); err != nil {
			return err
		}
	}
	for text, content := range want {
		if found[text] != content {
			return fmt.Errorf("model %s has %q, not %q", text, found[text], content)
		}
	}
	return nil
}
