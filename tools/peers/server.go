package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// contextLength is the context of all models, so that one request does not fit.
// llama-server divides its own by its slots, of which two choices need two.
const (
	contextLength = "2048"
	twoSlots      = "4096"
)

// model is a model that all servers have under one name.
type model struct{ group, name, file string }

// server is a program that serves models.
type server struct {
	name     string
	variable string // of the environment, with its program
	version  []string
	// perModel: it has one model at a time.
	perModel bool
	// start returns its command line for an address, and how to add the models once
	// it answers.
	start func(program, address, home string, models []model) (args, env []string)
	add   func(ctx context.Context, program, address string, models []model) error
}

var servers = []server{
	{
		name: "diglot", version: []string{"version"},
		start: func(_, address, home string, models []model) (args, env []string) {
			args = []string{"serve", "--listen", address, "--socket", "none", "--context", contextLength}
			for _, m := range models {
				args = append(args, "--model", m.name+"="+m.file)
			}
			return args, []string{"DIGLOT_HOME=" + home}
		},
	},
	{
		name: "llama-server", variable: "LLAMA_SERVER", version: []string{"--version"}, perModel: true,
		start: func(_, address, _ string, models []model) (args, env []string) {
			host, port, _ := net.SplitHostPort(address)
			args = []string{"--host", host, "--port", port, "--ctx-size", twoSlots, "--parallel", "2", "--jinja", "--threads", "1",
				"--model", models[0].file, "--alias", models[0].name}
			if models[0].group == "embedding" {
				args = append(args, "--embedding")
			}
			return args, nil
		},
	},
	{
		name: "ollama", variable: "OLLAMA", version: []string{"--version"},
		start: func(_, address, home string, _ []model) (args, env []string) {
			return []string{"serve"}, []string{"OLLAMA_HOST=" + address, "OLLAMA_MODELS=" + home, "HOME=" + home, "OLLAMA_CONTEXT_LENGTH=" + contextLength}
		},
		add: createInOllama,
	},
}

// program finds the program of a server, or returns an empty string.
func (s server) program(diglot string) string {
	if s.variable == "" {
		return diglot
	}
	if named := os.Getenv(s.variable); named != "" {
		return named
	}
	found, _ := exec.LookPath(s.name)
	return found
}

var number = regexp.MustCompile(`(?:version:? (?:is )?|^diglot )(\S+)`)

// versionOf asks a program for its version.
func (s server) versionOf(ctx context.Context, program string) (string, error) {
	said, err := exec.CommandContext(ctx, program, s.version...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", program, err, said)
	}
	for line := range strings.Lines(string(said)) {
		if found := number.FindStringSubmatch(line); found != nil {
			return found[1], nil
		}
	}
	return "", fmt.Errorf("%s: no version in %q", program, said)
}

// run runs the server until use returns.
func (s server) run(ctx context.Context, program string, models []model, use func(address string) error) (err error) {
	home, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	address, err := freeAddress()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(home, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	args, env := s.start(program, address, home, models)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		if err != nil {
			said, _ := os.ReadFile(log.Name())
			err = fmt.Errorf("%s: %w\n%s", s.name, err, said[max(0, len(said)-4000):])
		}
	}()
	if err := waitFor(ctx, "http://"+address, ended); err != nil {
		return err
	}
	if s.add != nil {
		if err := s.add(ctx, program, address, models); err != nil {
			return err
		}
	}
	return use("http://" + address)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// patience is how long a server may take to load its model.
const patience = 3 * time.Minute

// waitFor waits until a server has loaded its model.
func waitFor(ctx context.Context, address string, ended chan error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/models", nil)
		if err != nil {
			return err
		}
		reply, err := http.DefaultClient.Do(r)
		if err == nil {
			reply.Body.Close()
			if reply.StatusCode == http.StatusOK && healthy(ctx, address) {
				return nil
			}
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("it ended before it served: %w", err)
		case <-ctx.Done():
			return errors.New("it does not serve")
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// healthy asks the path that llama-server has for it; others have no such path.
func healthy(ctx context.Context, address string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/health", nil)
	if err != nil {
		return false
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	reply.Body.Close()
	return reply.StatusCode != http.StatusServiceUnavailable
}

// createInOllama puts the models into Ollama's store.
func createInOllama(ctx context.Context, program, address string, models []model) error {
	for _, m := range models {
		file := filepath.Join(os.TempDir(), "peers-"+m.name+".Modelfile")
		if err := os.WriteFile(file, []byte("FROM "+m.file+"\n"), 0o600); err != nil {
			return err
		}
		defer os.Remove(file)
		cmd := exec.CommandContext(ctx, program, "create", m.name, "-f", file)
		cmd.Env = append(os.Environ(), "OLLAMA_HOST="+address)
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("ollama create %s: %w\n%s", m.name, err, said)
		}
	}
	return nil
}
