package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// sdk is the vendors' SDKs of one language: how to install them, and a program that
// prints their types as JSON Schemas.
type sdk struct {
	language string
	name     func(part) string // of a part's type
	pins     string            // file with exact versions

	// Commands that install them, in a folder with a copy of pins: those of pins, or
	// the newest.
	pinned, newest []string
	// program takes the folder and a file with the names of types.
	program []string
}

// here is the folder of this program, and cache that of what it installs; both are
// relative to the root of the repository.
const (
	here  = "tools/drift"
	cache = ".cache/drift"
)

var (
	pip = []string{"python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore", "--target", "."}
	npm = []string{"npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"}
)

var sdks = []sdk{
	{
		language: "Python",
		name:     func(p part) string { return p.Python },
		pins:     here + "/python/requirements.txt",
		pinned:   with(pip, "-r", "requirements.txt"),
		newest:   with(pip, "openai", "anthropic", "pydantic"),
		program:  []string{"python3", here + "/python/schemas.py"},
	},
	{
		language: "Node",
		name:     func(p part) string { return p.Node },
		pins:     here + "/node/package.json",
		pinned:   npm,
		newest:   with(npm, "openai@latest", "@anthropic-ai/sdk@latest"),
		program:  []string{"node", here + "/node/schemas.js"},
	},
}

func with(command []string, args ...string) []string {
	return append(command[:len(command):len(command)], args...)
}

// install installs the pinned versions once, and the newest ones each time. It returns
// their folder.
func (s sdk) install(ctx context.Context, newest bool) (string, error) {
	want, err := os.ReadFile(s.pins)
	if err != nil {
		return "", err
	}
	folder, command := filepath.Join(cache, s.language), s.pinned
	if newest {
		folder, command = folder+"-newest", s.newest
	}
	stamp := filepath.Join(folder, ".installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == string(want) && !newest {
		return folder, nil
	}
	// What an earlier version left would hide what is missing now.
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(s.pins)), want, 0o644); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "drift: installing the SDKs of %s\n", s.language)
	if err := run(ctx, folder, command...); err != nil {
		return "", fmt.Errorf("the SDKs of %s cannot be installed: %w", s.language, err)
	}
	return folder, os.WriteFile(stamp, want, 0o644)
}

// types returns the types with the given names, from the SDKs in a folder.
func (s sdk) types(ctx context.Context, folder string, names []string) (types, error) {
	var t types
	asked, err := os.CreateTemp("", "drift-*.json")
	if err != nil {
		return t, err
	}
	defer os.Remove(asked.Name())
	defer asked.Close()
	if err := json.NewEncoder(asked).Encode(names); err != nil {
		return t, err
	}
	said, err := output(ctx, with(s.program, folder, asked.Name())...)
	if err != nil {
		return t, fmt.Errorf("types of the SDKs of %s: %w", s.language, err)
	}
	return t, json.Unmarshal(said, &t)
}

func run(ctx context.Context, folder string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, os.Stderr, os.Stderr
	return cmd.Run()
}

func output(ctx context.Context, command ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
