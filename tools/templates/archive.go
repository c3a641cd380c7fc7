package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// inside matches the paths of templates in the archive.
const inside = "*/vendor/llama.cpp/models/templates/*.jinja"

// readSums parses the output of sha256sum.
func readSums(text string) (map[string]string, error) {
	want := map[string]string{}
	for line := range strings.Lines(text) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok || len(sum) != 2*sha256.Size || name != filepath.Base(name) {
			return nil, fmt.Errorf("%s: %q is not a sum and a file name", sums, line)
		}
		want[name] = sum
	}
	if len(want) == 0 {
		return nil, fmt.Errorf("%s is empty", sums)
	}
	return want, nil
}

// missing returns the first template that is missing in the folder or has another
// sum; empty: none.
func missing(folder string, want map[string]string) string {
	var names []string
	for name, sum := range want {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || hash(text) != sum {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// extract writes the wanted templates of a gzipped tar archive into a folder, except
// those with a wrong sum.
func extract(archive io.Reader, folder string, want map[string]string) error {
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	for members := tar.NewReader(unzipped); ; {
		member, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Base(member.Name)
		if ok, _ := path.Match(inside, member.Name); !ok || want[name] == "" { // the pattern is a constant
			continue
		}
		text, err := io.ReadAll(members)
		if err != nil {
			return err
		}
		if got := hash(text); got != want[name] {
			return fmt.Errorf("%s: SHA-256 is %s, want %s", name, got, want[name])
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
