package registry_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// registryProgram builds the registry of the distribution project, as
// tools/tools.mod has it, and gives the path of the program. Go's build cache
// keeps it.
var registryProgram = sync.OnceValues(func() (string, error) {
	mod, err := filepath.Abs("../../../tools/tools.mod")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "tool", "-modfile="+mod, "-n", "registry")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build the registry program: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
})

// The one user that a registry with logins knows, and the hash of its
// password by bcrypt.
const (
	user     = "ali"
	password = "open sesame"
	hash     = "$2a$04$9QhA09hQWeqqZnBN4i7pMOyCm8q6YSUOC0ToXPGvJNvXzCktqUPM."
)

// startRegistry starts a registry with an empty store and gives its address.
func startRegistry(t *testing.T) string { return startProgram(t, "") }

// startLockedRegistry is one that answers nobody without a login.
func startLockedRegistry(t *testing.T) string {
	users := filepath.Join(t.TempDir(), "users")
	write(t, users, user+":"+hash+"\n")
	return startProgram(t, fmt.Sprintf("auth: {htpasswd: {realm: cave, path: %q}}\n", users))
}

func startProgram(t *testing.T, more string) string {
	t.Helper()
	program, err := registryProgram()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config.yml")
	write(t, config, fmt.Sprintf(`version: 0.1
log: {level: info}
storage: {filesystem: {rootdirectory: %q}, maintenance: {uploadpurging: {enabled: false}}}
http: {addr: "127.0.0.1:0", relativeurls: true, secret: s}
%s`, t.TempDir(), more))
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "serve", config)
	cmd.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(address)
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if _, after, ok := strings.Cut(lines.Text(), `listening on `); ok {
				found, _, _ := strings.Cut(after, `"`)
				address <- found
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-read
		cmd.Wait() // it was killed, so it says nothing of use
	})
	found, ok := <-address
	if !ok {
		t.Fatal("the registry ended before it listened")
	}
	return found
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
