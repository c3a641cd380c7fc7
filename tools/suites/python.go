package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// installPython installs what a requirements.txt lists into a folder below .cache, unless it
// is there already. A folder, unlike a virtual environment, needs only pip, also with an
// externally managed Python.
func installPython(ctx context.Context, out io.Writer, requirements string) (folder string, err error) {
	wanted, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(filepath.Join(".cache", filepath.Base(filepath.Dir(requirements)))); err != nil {
		return "", err
	}
	installed := filepath.Join(folder, "installed.txt")
	if had, err := os.ReadFile(installed); err == nil && bytes.Equal(had, wanted) {
		return folder, nil
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--root-user-action", "ignore", "--target", folder, "-r", requirements)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pip install -r %s: %w", requirements, err)
	}
	return folder, os.WriteFile(installed, wanted, 0o666)
}
