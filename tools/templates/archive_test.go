package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSums(t *testing.T) {
	sum := hash([]byte("x"))
	for _, tt := range []struct{ name, text, err string }{
		{"good", sum + "  a.jinja\n", ""},
		{"empty", "", "is empty"},
		{"no sum", "a.jinja\n", "not a sum"},
		{"short sum", "abc  a.jinja\n", "not a sum"},
		{"a path", sum + "  ../a.jinja\n", "not a sum"},
	} {
		_, err := readSums(tt.text)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error is %v, want %q in it", tt.name, err, tt.err)
		}
	}
}

func TestExtract(t *testing.T) {
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	members := tar.NewWriter(zipped)
	for _, m := range []struct{ name, text string }{
		{"p-1/vendor/llama.cpp/models/templates/a.jinja", "A"},
		{"p-1/vendor/llama.cpp/models/templates/unknown.jinja", "U"},
		{"p-1/elsewhere/b.jinja", "B"},
	} {
		if err := members.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := members.Write([]byte(m.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := members.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}

	folder := t.TempDir()
	want := map[string]string{"a.jinja": hash([]byte("A")), "b.jinja": hash([]byte("B"))}
	if err := extract(bytes.NewReader(archive.Bytes()), folder, want); err != nil {
		t.Fatal(err)
	}
	if got := missing(folder, want); got != "b.jinja" {
		t.Errorf("missing is %q, want b.jinja, which is elsewhere in the archive", got)
	}
	if _, err := os.Stat(filepath.Join(folder, "unknown.jinja")); err == nil {
		t.Error("a template that is not listed was written")
	}
	want["a.jinja"] = hash([]byte("another A"))
	if err := extract(bytes.NewReader(archive.Bytes()), t.TempDir(), want); err == nil || !strings.Contains(err.Error(), "a.jinja: SHA-256") {
		t.Errorf("a wrong sum gives %v", err)
	}
}
