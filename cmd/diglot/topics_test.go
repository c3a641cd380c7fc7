package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/script"
)

// TestScriptsInDocuments: the scripts that are shown to users can be played.
func TestScriptsInDocuments(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, fenced, _ := strings.Cut(string(readme), "```yaml\n")
	fenced, _, _ = strings.Cut(fenced, "```")
	indented := regexp.MustCompile(`(?m)^ {4}.*\n`).FindAllString(scriptsTopic, -1)
	for name, text := range map[string]string{
		"README.md":           fenced,
		"diglot help scripts": regexp.MustCompile(`(?m)^ {4}`).ReplaceAllString(strings.Join(indented, ""), ""),
	} {
		if models, err := script.Load(strings.NewReader(text)); err != nil || len(models) == 0 {
			t.Errorf("%s: %d models, error %v", name, len(models), err)
		}
	}
}
