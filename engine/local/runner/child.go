package runner

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/confine"
)

// socketFD is where a child finds its listening socket: the first file that
// its parent hands on.
const socketFD = 3

// Child is what [RunChild] runs.
type Child struct {
	// Files are those that the process reads. It can open no others where the
	// system can hold it to that, and has few other rights: see confine.
	Files []string

	// State is the value of the variable [confine.Marker].
	State string

	// Open makes the engine. held is what keeps the process from more.
	Open func(ctx context.Context, held confine.Held) (engine.Engine, error)
}

// RunChild is what a child process does: it serves the engine that c makes
// until its parent is gone, or ctx ends. An error of Open is served
// too, so that the parent hears why. RunChild must not be called by a
// process that was not started by an [Engine]. What was done before is done
// twice, because the process is executed anew to confine it.
//
// Standard input is a pipe from the parent, which nothing is written to: its
// end is the parent's end. RunChild then returns at once, whatever the
// engine does, so that main can end the process.
func RunChild(ctx context.Context, c Child) error {
	held := confine.Enter(confine.Needs{Files: c.Files, Socket: socketFD, State: c.State})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l, err := inherited(socketFD)
	if err != nil {
		return err
	}
	defer removeSocket(l.Addr())
	served := make(chan error, 1)
	go func() {
		served <- openAndServe(ctx, l, func(ctx context.Context) (engine.Engine, error) { return c.Open(ctx, held) })
	}()
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
