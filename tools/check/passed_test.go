package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPassedBefore(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) passed {
		t.Helper()
		p, err := passedBefore([]string{"program", "model"}, args...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("program", "1")
	write("model", "2")
	first := run("a", "b")
	if _, ok := first.load(); ok {
		t.Error("a run that never was has passed")
	}
	if err := first.store(tally{passed: 3, failed: 1}); err != nil {
		t.Fatal(err)
	}
	if _, ok := first.load(); ok {
		t.Error("a run with a failure has passed")
	}
	want := tally{passed: 3, skipped: 2}
	if err := first.store(want); err != nil {
		t.Fatal(err)
	}
	if got, ok := run("a", "b").load(); !ok || got != want {
		t.Errorf("the same run: %v, %v", got, ok)
	}
	others := map[string]passed{"other arguments": run("ab"), "fewer": run("a")}
	write("program", "12")
	write("model", "")
	others["another program and model"] = run("a", "b")
	write("program", "1")
	write("model", "3")
	others["another model"] = run("a", "b")
	for name, p := range others {
		if _, ok := p.load(); ok {
			t.Errorf("%s: passed before", name)
		}
	}
	if _, err := passedBefore([]string{filepath.Join("no", "file")}); err == nil {
		t.Error("a run without its program has a name")
	}
}
