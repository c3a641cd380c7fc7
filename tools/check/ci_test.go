package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestActionWaits holds that the action asks the same path for both forms of a base URL.
func TestActionWaits(t *testing.T) {
	text, err := os.ReadFile("../deploy/ci/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Runs struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	script := ""
	for _, step := range action.Runs.Steps {
		if _, starts := step.Env["START"]; starts {
			script = step.Run
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "curl"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"} {
		c := exec.CommandContext(t.Context(), "bash", "-ec", script)
		c.Dir = folder
		c.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "START=true", "BASE_URL="+base, "READY=/health")
		said, err := c.CombinedOutput()
		if err != nil || !strings.HasSuffix(strings.TrimSpace(string(said)), " http://h:1/health") {
			t.Errorf("%s: %v, %s", base, err, said)
		}
	}
}
