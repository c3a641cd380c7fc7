package serving

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/internal/hostname"
)

// noSocket is the --socket of a server without a control socket.
const noSocket = "none"

// Listen returns the sockets of systemd, or else listens on the address.
func Listen(getenv func(string) string, address string) ([]net.Listener, error) {
	if getenv("LISTEN_FDS") != "" {
		return inherit()
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use, possibly by another diglot server; use another address with --listen", address)
	}
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// isOpen reports whether other machines can reach a listener.
func isOpen(l net.Listener) bool {
	return l.Addr().Network() == "tcp" && !hostname.Loopback(l.Addr().String())
}

// WarnOpen warns of addresses that other machines can use without a key.
func WarnOpen(listeners []net.Listener, log *slog.Logger) {
	for _, l := range listeners {
		if isOpen(l) {
			log.Warn("anyone who can reach this address can use the server; --api-key-file FILE makes it require a key", "address", l.Addr())
		}
	}
}

// CloseAll closes all listeners.
func CloseAll(listeners []net.Listener) error {
	var all []error
	for _, l := range listeners {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
}

// inherit returns the sockets of systemd socket activation.
func inherit() ([]net.Listener, error) {
	all, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("the sockets of systemd: %w", err)
	}
	var listeners []net.Listener
	for _, l := range all {
		if l != nil { // not a listening socket
			listeners = append(listeners, l)
		}
	}
	if len(listeners) == 0 {
		return nil, errors.New("LISTEN_FDS is set, but systemd passed no listening socket; unset it, or check the socket unit")
	}
	return listeners, nil
}

// ListenLocally opens the control socket; nil: none. It fails only for a socket that
// the user named: another server may hold the default one.
func ListenLocally(getenv func(string) string, path string, log *slog.Logger) (net.Listener, error) {
	if path == noSocket {
		return nil, nil
	}
	named := path != "" || getenv("DIGLOT_SOCKET") != ""
	if path == "" {
		var err error
		if path, err = places.Find(getenv).SocketPath(); err != nil {
			return nil, nil // commands of such a user would not find it either
		}
	}
	l, err := control.Listen(path)
	if err != nil && named {
		return nil, err
	}
	if err != nil {
		log.Warn("commands cannot reach this server", "reason", err)
		return nil, nil
	}
	return l, nil
}
