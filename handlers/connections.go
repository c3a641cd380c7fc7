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

// ConnectionLimits limits the number of connections.
type ConnectionLimits struct {
	All int // at the same time
	// PerAddress limits the connections of one remote address. Loopback has no such limit:
	// a proxy with all clients may be behind it.
	PerAddress int
}

const (
	// young is how long an idle connection is safe from eviction.
	young = time.Second

	// maxTurnedAway is how many connections over the limit get an error reply; the others
	// are closed.
	maxTurnedAway = 16

	// writeBuffer is the socket's send buffer, which the kernel doubles.
	writeBuffer = 128 << 10
)

// Connections tracks the connections of clients. It is safe for concurrent use.
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

// Listen limits the connections that l accepts. At the limit, the connection that has been
// idle for the longest time is evicted: one between two requests, or one whose request does
// not arrive. If there is none, the new one is turned away.
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

// admit returns the connection to serve, or nil if it was closed for lack of room.
func (c *Connections) admit(accepted net.Conn) net.Conn {
	if tcp, ok := accepted.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(writeBuffer) // else a client that does not read is noticed only after megabytes
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

// idlest returns the connection that has been idle for the longest time, or nil. The mutex
// is held.
func (c *Connections) idlest() *connection {
	var found *connection
	latest := time.Now().Add(-young).UnixNano()
	for conn := range c.open {
		if at := conn.lastActive.Load(); at <= latest && conn.inFlight.Load() == 0 && !conn.turnedAway {
			found, latest = conn, at
		}
	}
	return found
}

// forget removes a connection, once. The mutex is held.
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

// foreign returns the remote address, or the zero Addr for this machine.
func foreign(addr net.Addr) netip.Addr {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	switch {
	case hostname.Loopback(addr.String()):
		return netip.Addr{}
	case ip.Is6(): // one machine has a whole /64
		network, _ := ip.WithZone("").Prefix(64) // fails only for an invalid length
		return network.Addr()
	}
	return ip
}

// connection is one connection of a client.
type connection struct {
	net.Conn
	all        *Connections
	address    netip.Addr   // remote; zero for this machine
	turnedAway bool         // gets an error reply, since the limit is reached
	lastActive atomic.Int64 // last activity, Unix time in nanoseconds
	inFlight   atomic.Int32 // requests that have arrived and are not answered
	alone      atomic.Bool  // no request may follow the one that is read or handled
	timed      atomic.Bool  // reads have a deadline
	ahead      []byte       // read ahead
	over       bool         // more than maxAhead
}

func (c *connection) stir() { c.lastActive.Store(time.Now().UnixNano()) }

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

// CloseWrite shuts down the sending side, if the connection can.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// begin counts a request that has arrived, and end that it is answered. A nil connection is
// not counted.
func (c *connection) begin() {
	if c != nil {
		c.inFlight.Add(1)
	}
}

func (c *connection) end() {
	if c != nil {
		c.inFlight.Add(-1)
	}
}

// expect records the method of the request that is read; empty when it is done.
func (c *connection) expect(method string) {
	if c != nil {
		c.alone.Store(method == http.MethodPost)
	}
}

// isTurnedAway reports whether the connection is over the limit.
func (c *connection) isTurnedAway() bool { return c != nil && c.turnedAway }

type connectionKey struct{}

// withConnection is the ConnContext of a server.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if conn, ok := c.(*connection); ok {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	return ctx
}

// connectionOf returns the connection of a request, or nil.
func connectionOf(ctx context.Context) *connection {
	conn, _ := ctx.Value(connectionKey{}).(*connection)
	return conn
}

func tooManyConnections() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "There are too many connections to the server; try again later.")
	err.RetryAfter = 2
	return err
}
