package runner

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"
)

// process is one running child.
type process struct {
	client *Client
	pid    int
	kill   context.CancelFunc
	exited chan struct{} // closed on exit
	status string        // of the exit; read after exited is closed
	faulty atomic.Bool   // we killed it, for a hang or a protocol error

	inFlight *inFlight

	context int // context length; 0: unknown. Set once the model is loaded
}

// startProcess starts a child with the environment of config, and does not wait for
// its model. The child is killed when ctx is done.
func startProcess(ctx context.Context, command []string, config Config, log *slog.Logger) (*process, error) {
	dir, err := os.MkdirTemp("", "diglot-") // for this user only
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "s") // short: sun_path has about 100 bytes
	socket, err := listen(path)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	defer socket.Close()
	ctx, cancel := context.WithCancel(ctx)
	client := Dial(path, config.Budget)
	client.messageTimeout = config.messageTimeout
	p := &process{client: client, kill: cancel, exited: make(chan struct{}), inFlight: newInFlight()}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append([]string{}, config.Variables...) // nil would inherit ours
	cmd.ExtraFiles = []*os.File{socket}               // becomes socketFD
	cmd.Stderr = &lineLog{log: log}
	cmd.SysProcAttr = processAttributes()
	cmd.WaitDelay = time.Second // if a descendant holds its standard error open
	_, err = cmd.StdinPipe()    // open until Wait returns: see RunChild
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		_ = os.RemoveAll(dir)
		return nil, err
	}
	p.pid = cmd.Process.Pid
	go p.wait(cmd, dir)
	return p, nil
}

// wait waits for the exit of the process and cleans up.
func (p *process) wait(cmd *exec.Cmd, dir string) {
	defer close(p.exited)
	_ = cmd.Wait() // ProcessState says more
	p.status = cmd.ProcessState.String()
	p.kill()
	_ = p.client.Close()
	_ = os.RemoveAll(dir)
}

// stop kills the process and waits until it has exited or ctx is done.
func (p *process) stop(ctx context.Context) {
	p.kill()
	select {
	case <-p.exited:
	case <-ctx.Done():
	}
}

// killed is the status of a process that was killed from outside, by an operator or
// the OOM killer.
const killed = "signal: killed"

// blame records the suspects after the exit of the process.
func (p *process) blame() {
	p.inFlight.blame(p.faulty.Load() || p.status != killed)
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// watch kills the process when requests have waited longer than hang for a message.
func (p *process) watch(hang time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(max(hang/8, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-p.exited:
			return
		case <-ticker.C:
		}
		if silence := p.client.activity.silence(); silence > hang {
			log.Error("model process hangs", "silent", silence)
			p.faulty.Store(true)
			p.kill()
			return
		}
	}
}

// listen returns a listening Unix socket at path, as a file to inherit.
func listen(path string) (*os.File, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the child's copy keeps listening
	defer l.Close()
	return l.File()
}
