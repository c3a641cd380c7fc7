package main

import (
	"context"
	"debug/buildinfo"
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
// llama-server divides its own by its slots, one for each request at a time.
const (
	contextLength = "2048"
	slots         = "4"
	slotsLength   = "8192"
	// An answer that its request does not limit ends after so many tokens: a small model
	// may find no end before that of its context. Ollama takes three times as long for each.
	tokens       = "64"
	ollamaTokens = "16"
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
			args = []string{"--host", host, "--port", port, "--ctx-size", slotsLength, "--parallel", slots, "--jinja", "--threads", "1", "--predict", tokens,
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
			return []string{"serve"}, []string{"OLLAMA_HOST=" + address, "OLLAMA_MODELS=" + home, "HOME=" + home, "OLLAMA_CONTEXT_LENGTH=" + contextLength,
				"OLLAMA_NUM_PARALLEL=" + slots}
		},
		add: createInOllama,
	},
}

// each calls use for the servers that are there, or for one of them.
func each(diglot, only string, use func(s server, program string) error) error {
	for _, s := range servers {
		if only != "" && s.name != only {
			continue
		}
		program := s.program(diglot)
		if program == "" {
			fmt.Printf("note: no %s in PATH or %s; what is known of it stays as it is\n", s.name, s.variable)
			continue
		}
		program, err := filepath.Abs(program)
		if err != nil {
			return err
		}
		if err := use(s, program); err != nil {
			return err
		}
	}
	return nil
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

// unset is the version of an Ollama that was built from its module, which knows better.
const unset = "0.0.0"

// versionOf asks a program for its version.
func (s server) versionOf(ctx context.Context, program string) (string, error) {
	said, err := exec.CommandContext(ctx, program, s.version...).CombinedOutput()
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
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // Ollama ends its runners then
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
