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

// socketFD is the descriptor of a child's listening socket: the first of ExtraFiles.
const socketFD = 3

// Child configures [RunChild].
type Child struct {
	// Files are the only files that the process can open, as far as the kernel can
	// confine it: see package confine.
	Files []string

	// State is the value of the variable [confine.Marker].
	State string

	// Open creates the engine. held says how the process is confined.
	Open func(ctx context.Context, held confine.Held) (engine.Engine, error)
}

// RunChild confines this process, which an [Engine] must have started, and serves
// the engine of c until the parent exits or ctx is done. An error of Open is served,
// too, so that the parent gets it. Confining executes the program again, so what
// main does before is done twice.
//
// Standard input is a pipe that the parent never writes to and that is closed when
// the parent exits. RunChild then returns at once, whatever the engine does, so that
// main can exit.
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

// removeSocket removes the socket and its directory, unless that holds other files.
// A parent that was killed leaves them behind.
func removeSocket(addr net.Addr) {
	_ = os.Remove(addr.String())
	_ = os.Remove(filepath.Dir(addr.String()))
}

// inherited returns the listener with descriptor fd.
func inherited(fd uintptr) (net.Listener, error) {
	f := os.NewFile(fd, "socket")
	defer f.Close() // FileListener takes a copy
	return net.FileListener(f)
}
