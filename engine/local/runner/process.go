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
	exited chan struct{} // closed once it is gone
	status string        // how it ended; to be read after exited
	faulty atomic.Bool   // we ended it, for it did nothing, or sent what makes no sense

	passengers *passengers

	context int // tokens that a request may use; 0: unknown. Set once the model is loaded
}

// startProcess starts a child that has the variables of config and no others, and
// returns without waiting for its model. The child ends when ctx does.
func startProcess(ctx context.Context, command []string, config Config, log *slog.Logger) (*process, error) {
	dir, err := os.MkdirTemp("", "diglot-") // for this user only
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "s") // short: the system allows about 100 bytes
	socket, err := listen(path)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	defer socket.Close()
	ctx, cancel := context.WithCancel(ctx)
	client := Dial(path, config.Budget)
	client.restTimeout = config.restTimeout
	p := &process{client: client, kill: cancel, exited: make(chan struct{}), passengers: newPassengers()}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append([]string{}, config.Variables...) // nil would be all of ours
	cmd.ExtraFiles = []*os.File{socket}               // becomes socketFD
	cmd.Stderr = &lineLog{log: log}
	cmd.SysProcAttr = processAttributes()
	cmd.WaitDelay = time.Second // for what still holds its standard error
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

// wait waits for the end of the process and clears up behind it.
func (p *process) wait(cmd *exec.Cmd, dir string) {
	defer close(p.exited)
	_ = cmd.Wait() // its error says less than the state
	p.status = cmd.ProcessState.String()
	p.kill()
	_ = p.client.Close()
	_ = os.RemoveAll(dir)
}

// end kills the process and waits until it is gone, but not beyond ctx.
func (p *process) end(ctx context.Context) {
	p.kill()
	select {
	case <-p.exited:
	case <-ctx.Done():
	}
}

// killed is how the system says that a process was ended from outside: by its
// operator, or because the machine has no memory left.
const killed = "signal: killed"

// judge blames the requests that were in the process when it ended; it is
// gone.
func (p *process) judge() {
	p.passengers.judge(p.faulty.Load() || p.status != killed)
}

// hasExited reports whether the process is gone.
func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// watch kills the process once requests have waited for it longer than hang.
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

// listen makes a listening Unix socket at path, as a file to hand on.
func listen(path string) (*os.File, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // the child's copy listens on
	defer l.Close()
	return l.File()
}
