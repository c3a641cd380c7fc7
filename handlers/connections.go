package handlers

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/hostname"
)

// ConnectionLimits say how many connections there may be.
type ConnectionLimits struct {
	All int // at the same time
	// PerAddress is how many of them one address of another machine may have.
	// This machine has no limit of its own: behind its address may be a proxy
	// with everybody's connections.
	PerAddress int
}

const (
	// young is how long a connection that does nothing is safe from one that
	// wants its place.
	young = time.Second

	// maxTurnedAway is how many connections beyond the limit are told so; the
	// others are closed.
	maxTurnedAway = 16

	// writeBuffer is how many bytes the system takes from us that the client
	// has not; it doubles them.
	writeBuffer = 128 << 10
)

// Connections are the connections of clients. They are safe for concurrent
// use.
type Connections struct {
	limits ConnectionLimits

	mu         sync.Mutex
	open       map[*connection]bool
	addresses  map[netip.Addr]int
	turnedAway int
}

// NewConnections returns an empty set.
func NewConnections(limits ConnectionLimits) *Connections {
	return &Connections{limits: limits, open: map[*connection]bool{}, addresses: map[netip.Addr]int{}}
}

// Listen keeps what l accepts within the limits. Where all places are taken,
// the connection that has done nothing for the longest time goes: one between
// two requests, or one whose request does not arrive. Where there is none, the
// new one is turned away.
func (c *Connections) Listen(l net.Listener) net.Listener { return &listener{l, c} }

type listener struct {
	net.Listener
	connections *Connections
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if admitted := l.connections.admit(accepted); admitted != nil {
			return admitted, nil
		}
		_ = accepted.Close()
	}
}

// admit finds a place for a connection; nil: there is none, and it need not be
// told.
func (c *Connections) admit(accepted net.Conn) net.Conn {
	if tcp, ok := accepted.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // else a client that takes nothing shows after megabytes
	}
	conn := &connection{Conn: accepted, all: c, address: foreign(accepted.RemoteAddr())}
	conn.stir()
	evicted, ok := c.place(conn)
	if evicted != nil {
		_ = evicted.Close()
	}
	if !ok {
		return nil
	}
	return conn
}

func (c *Connections) place(conn *connection) (evicted *connection, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	beyond := conn.address.IsValid() && c.addresses[conn.address] >= c.limits.PerAddress
	if !beyond && len(c.open)-c.turnedAway >= c.limits.All {
		if evicted = c.idlest(); evicted != nil {
			c.forget(evicted)
		}
		beyond = evicted == nil
	}
	if beyond {
		if c.turnedAway == maxTurnedAway {
			return nil, false
		}
		c.turnedAway++
		conn.turnedAway = true
	}
	c.open[conn] = true
	if conn.address.IsValid() {
		c.addresses[conn.address]++
	}
	return evicted, true
}

// idlest is the connection that has done nothing for the longest time, nil if
// all are busy. The mutex is held.
func (c *Connections) idlest() *connection {
	var found *connection
	latest := time.Now().Add(-young).UnixNano()
	for conn := range c.open {
		if at := conn.stirred.Load(); at <= latest && conn.working.Load() == 0 && !conn.turnedAway {
			found, latest = conn, at
		}
	}
	return found
}

// forget gives the place of a connection back, once. The mutex is held.
func (c *Connections) forget(conn *connection) {
	if !c.open[conn] {
		return
	}
	delete(c.open, conn)
	if conn.turnedAway {
		c.turnedAway--
	}
	if !conn.address.IsValid() {
		return
	}
	if c.addresses[conn.address]--; c.addresses[conn.address] == 0 {
		delete(c.addresses, conn.address)
	}
}

// foreign is the address of another machine; it is not valid for this one.
func foreign(addr net.Addr) netip.Addr {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	switch {
	case hostname.Loopback(addr.String()):
		return netip.Addr{}
	case ip.Is6(): // one machine has a whole network of these
		network, _ := ip.WithZone("").Prefix(64) // fails for more bits than there are
		return network.Addr()
	}
	return ip
}

// connection is one connection of a client.
type connection struct {
	net.Conn
	all        *Connections
	address    netip.Addr   // of another machine; else not valid
	turnedAway bool         // it is there to be told that there is no place
	stirred    atomic.Int64 // Unix time in nanoseconds of the last bytes
	working    atomic.Int32 // requests that have arrived and are not answered
	alone      atomic.Bool  // nothing may come behind the request that is read or worked on
	timed      atomic.Bool  // reading has a deadline
	ahead      []byte       // what has come behind it
	over       bool         // it was too much
}

func (c *connection) stir() { c.stirred.Store(time.Now().UnixNano()) }

func (c *connection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.stir()
	}
	return n, err
}

func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.forget(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite says that no more comes, where that can be said.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// begin notes a request that has arrived, and end that it is answered. A nil
// connection is one that nobody counts.
func (c *connection) begin() {
	if c != nil {
		c.working.Add(1)
	}
}

func (c *connection) end() {
	if c != nil {
		c.working.Add(-1)
	}
}

// expect notes which request is read, and nothing that it is done.
func (c *connection) expect(method string) {
	if c != nil {
		c.alone.Store(method == http.MethodPost)
	}
}

// isTurnedAway reports whether there was no place for the connection.
func (c *connection) isTurnedAway() bool { return c != nil && c.turnedAway }

type connectionKey struct{}

// withConnection is the ConnContext of a server.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if conn, ok := c.(*connection); ok {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	return ctx
}

// connectionOf is the connection of a request, or nil.
func connectionOf(ctx context.Context) *connection {
	conn, _ := ctx.Value(connectionKey{}).(*connection)
	return conn
}

func tooManyConnections() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "There are too many connections to the server; try again later.")
	err.RetryAfter = 2
	return err
}
