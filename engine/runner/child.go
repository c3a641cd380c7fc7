package runner

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/engine"
)

// socketFD is where a child finds its listening socket: the first file that
// its parent hands on.
const socketFD = 3

// RunChild is what a child process does: it serves the engine that open
// makes until its parent is gone, or ctx ends. An error of open is served
// too, so that the parent hears why. RunChild must not be called by a
// process that was not started by an [Engine].
//
// Standard input is a pipe from the parent, which nothing is written to: its
// end is the parent's end. RunChild then returns at once, whatever the
// engine does, so that main can end the process.
func RunChild(ctx context.Context, open func(context.Context) (engine.Engine, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	volunteer()
	l, err := inherited(socketFD)
	if err != nil {
		return err
	}
	defer removeSocket(l.Addr())
	served := make(chan error, 1)
	go func() { served <- openAndServe(ctx, l, open) }()
	orphaned := make(chan struct{})
	go func() {
		defer close(orphaned)
		_, _ = io.Copy(io.Discard, os.Stdin)
	}()
	select {
	case err := <-served:
		return err
	case <-orphaned:
		return nil
	}
}

// volunteer makes this process the one that Linux ends when memory runs out:
// what eats it is a model or the template in its file, and the parent can
// start another. Elsewhere the file does not exist, and nothing happens.
func volunteer() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

func openAndServe(ctx context.Context, l net.Listener, open func(context.Context) (engine.Engine, error)) error {
	e, err := open(ctx)
	if err != nil {
		e = Failed(engine.AsError(err))
	}
	return Serve(ctx, l, e)
}

// removeSocket removes the socket and its folder, which a parent that was
// killed has left behind. It removes nothing else: a folder that holds more
// than the socket stays.
func removeSocket(addr net.Addr) {
	_ = os.Remove(addr.String())
	_ = os.Remove(filepath.Dir(addr.String()))
}

// inherited is the listener whose socket the process got as descriptor fd.
func inherited(fd uintptr) (net.Listener, error) {
	f := os.NewFile(fd, "socket")
	defer f.Close() // FileListener takes a copy
	return net.FileListener(f)
}
