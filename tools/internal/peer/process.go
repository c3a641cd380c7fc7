package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a running server.
type Process struct {
	name  string
	url   string
	cmd   *exec.Cmd
	log   *os.File
	ended chan struct{}
	err   error // of its end
}

// Command is what a server is started with.
type Command struct {
	Name    string // in errors
	Program string
	Args    []string
	Env     []string // besides the environment of this process
	Address string   // that it listens on
	Home    string   // a folder for its log
}

// Start starts a server. It need not answer yet; see [Process.Wait].
func Start(ctx context.Context, c Command) (*Process, error) {
	log, err := os.CreateTemp(c.Home, "log-")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, c.Program, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // Ollama ends its runners then
	if err := cmd.Start(); err != nil {
		log.Close()
		return nil, err
	}
	p := &Process{name: c.Name, url: "http://" + c.Address, cmd: cmd, log: log, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// URL is the base of the server's paths.
func (p *Process) URL() string { return p.url }

// PID identifies the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Stop ends the process, and waits for it.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	p.log.Close()
}

// Explain adds the end of the server's log to an error.
func (p *Process) Explain(err error) error {
	if err == nil {
		return nil
	}
	said, _ := os.ReadFile(p.log.Name())
	return fmt.Errorf("%s: %w\n%s", p.name, err, said[max(0, len(said)-4000):])
}

// patience is how long a server may take to load its model.
const patience = 3 * time.Minute

// Wait waits until the server has loaded its model.
func (p *Process) Wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if p.answers(ctx, "/v1/models", func(status int) bool { return status == http.StatusOK }) &&
			// The path that llama-server has for it; others have no such path.
			p.answers(ctx, "/health", func(status int) bool { return status != http.StatusServiceUnavailable }) {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended before it served: %w", p.err)
		case <-ctx.Done():
			return errors.New("it does not serve")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answers reports whether the server answers a GET request as wanted.
func (p *Process) answers(ctx context.Context, path string, wanted func(status int) bool) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return false
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	reply.Body.Close()
	return wanted(reply.StatusCode)
}
