package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// passed is a file that says how a run without failures ended. Its name is a hash of all that
// the run depends on.
type passed string

// passedBefore names the file of a run with these files and arguments.
func passedBefore(files []string, args ...string) (passed, error) {
	hash := sha256.New()
	for _, arg := range args {
		fmt.Fprintf(hash, "%q\n", arg)
	}
	for _, name := range files {
		if err := addFile(hash, name); err != nil {
			return "", err
		}
	}
	return passed(filepath.Join(".cache", "passed", hex.EncodeToString(hash.Sum(nil))+".json")), nil
}

func addFile(to io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	content := sha256.New()
	if _, err := io.Copy(content, f); err != nil {
		return err
	}
	_, err = to.Write(content.Sum(nil))
	return err
}

// load reads the counts of a run that passed.
func (p passed) load() (count tally, ok bool) {
	data, err := os.ReadFile(string(p))
	if err != nil {
		return tally{}, false
	}
	var c counts
	if err := json.Unmarshal(data, &c); err != nil || c.Passed == 0 {
		return tally{}, false
	}
	return tally{passed: c.Passed, skipped: c.Skipped}, true
}

// store keeps the counts of a run without failures.
func (p passed) store(count tally) error {
	if count.failed > 0 || count.passed == 0 {
		return nil
	}
	data, err := json.Marshal(counts{count.passed, count.skipped})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(string(p)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(string(p), data, 0o644)
}

type counts struct {
	Passed  int `json:"passed"`
	Skipped int `json:"skipped"`
}
