// Package peer starts the servers that diglot is held beside: it finds their programs,
// asks for their versions, runs them with a log until their caller is done, and waits
// until they answer. What they are started with is the caller's business.
package peer

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Server is a program that serves models.
type Server struct {
	Name     string
	Variable string   // of the environment, with its program; empty: none
	Version  []string // the arguments that print its version
}

// Find returns the absolute path of the server's program: the named one, else that of
// the environment, else that in PATH; empty: there is none.
func (s Server) Find(named string) (string, error) {
	if named == "" && s.Variable != "" {
		named = os.Getenv(s.Variable)
	}
	if named == "" {
		named, _ = exec.LookPath(s.Name)
	}
	if named == "" {
		return "", nil
	}
	return filepath.Abs(named)
}

var number = regexp.MustCompile(`(?:version:? (?:is )?|^diglot )(\S+)`)

// unset is the version of an Ollama that was built from its module, which knows better.
const unset = "0.0.0"

// VersionOf asks a program for its version.
func (s Server) VersionOf(ctx context.Context, program string) (string, error) {
	said, err := exec.CommandContext(ctx, program, s.Version...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", program, err, said)
	}
	for line := range strings.Lines(string(said)) {
		if found := number.FindStringSubmatch(line); found != nil && found[1] != unset {
			return found[1], nil
		}
	}
	if built, err := buildinfo.ReadFile(program); err == nil {
		return built.Main.Version, nil
	}
	return "", fmt.Errorf("%s: no version in %q", program, said)
}

// FreeAddress returns an address of this machine that nobody listens on.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// CreateInOllama puts a model into the store of a running Ollama.
func CreateInOllama(ctx context.Context, program, address, name string, modelfile []byte) error {
	home, err := os.MkdirTemp("", "ollama-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	file := filepath.Join(home, "Modelfile")
	if err := os.WriteFile(file, modelfile, 0o600); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "create", name, "-f", file)
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+address, "HOME="+home)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ollama create %s: %w\n%s", name, err, said)
	}
	return nil
}
