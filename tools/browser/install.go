package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// findChromium returns the path of a Chromium. On a Debian machine root gets one installed.
func findChromium(ctx context.Context) (string, error) {
	if own := os.Getenv("CHROMIUM"); own != "" {
		return exec.LookPath(own)
	}
	if path, ok := chromiumInPath(); ok {
		return path, nil
	}
	missing := errors.New("there is no Chromium (Debian: apt-get install chromium); CHROMIUM may name one elsewhere")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Getuid() != 0 {
		return "", missing
	}
	fmt.Fprintln(os.Stderr, "browser: installing Chromium")
	for _, args := range [][]string{
		{"update"},
		// Chromium needs some font; the tests measure text.
		{"install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"},
	} {
		cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-qq"}, args...)...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: apt-get %s: %w\n%s", missing, args[0], err, out)
		}
	}
	if path, ok := chromiumInPath(); ok {
		return path, nil
	}
	return "", missing
}

func chromiumInPath() (string, bool) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// installPackages installs the locked npm packages. A copy of the lock file beside them
// marks them as installed.
func installPackages(ctx context.Context) error {
	want, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return err
	}
	stamp := filepath.Join(folder, "node_modules", ".installed")
	if have, err := os.ReadFile(stamp); err == nil && bytes.Equal(have, want) {
		return nil
	}
	if err := execute(ctx, folder, "npm", "ci", "--no-audit", "--no-fund", "--loglevel", "error"); err != nil {
		return err
	}
	return os.WriteFile(stamp, want, 0o644)
}
