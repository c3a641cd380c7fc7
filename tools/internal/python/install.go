// Package python installs packages of Python for developer tools.
package python

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Install installs what a requirements.txt lists into a folder, whose absolute path it
// returns. It does nothing if the folder has it: a file that is written last says so. A
// folder, unlike a virtual environment, needs only pip, also with an externally managed
// Python.
func Install(ctx context.Context, out io.Writer, requirements, folder string) (string, error) {
	wanted, err := os.ReadFile(requirements)
	if err != nil {
		return "", err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", err
	}
	installed := filepath.Join(folder, "installed.txt")
	had, err := os.ReadFile(installed)
	if err == nil && bytes.Equal(had, wanted) {
		return folder, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
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
