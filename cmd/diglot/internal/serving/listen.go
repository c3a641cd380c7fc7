package serving

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/exit"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
	"github.com/diglot/diglot/internal/hostname"
)

// noSocket is the --socket of a server that no command is to reach.
const noSocket = "none"

// Listen opens what clients connect to: what systemd has opened, or else the
// address.
func Listen(getenv func(string) string, address string) ([]net.Listener, error) {
	if getenv("LISTEN_FDS") != "" {
		return inherit()
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use by another program, or by a diglot server that runs already; choose another address with --listen", address)
	}
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
}

// isOpen reports whether other machines may reach an address.
func isOpen(l net.Listener) bool {
	return l.Addr().Network() == "tcp" && !hostname.Loopback(l.Addr().String())
}

// CheckOpen refuses to serve other machines unless that is safe, or
// the user says that it is meant.
func CheckOpen(listeners []net.Listener, allowed bool) error {
	for _, l := range listeners {
		if isOpen(l) && !allowed {
			return exit.Usage("serve: other machines can reach %s, and no key is asked for; name a file of keys with --api-key-file, or set DIGLOT_API_KEY; "+
				"listen on 127.0.0.1 for this machine alone; or let everyone in with --insecure-public", l.Addr())
		}
	}
	return nil
}

// WarnOpen says which of the addresses other machines may reach, of
// a server that asks for no key.
func WarnOpen(listeners []net.Listener, log *slog.Logger) {
	for _, l := range listeners {
		if isOpen(l) {
			log.Warn("anyone who reaches this address may use the server; --api-key-file FILE has it ask for a key", "address", l.Addr())
		}
	}
}

// CloseAll closes them.
func CloseAll(listeners []net.Listener) error {
	var all []error
	for _, l := range listeners {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
}

// inherit takes over the sockets that systemd has opened for this process.
func inherit() ([]net.Listener, error) {
	all, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("the sockets of systemd: %w", err)
	}
	var listeners []net.Listener
	for _, l := range all {
		if l != nil { // a socket that no client can connect to
			listeners = append(listeners, l)
		}
	}
	if len(listeners) == 0 {
		return nil, errors.New("LISTEN_FDS is set, but there is no socket of systemd to serve; unset it, or check the socket unit")
	}
	return listeners, nil
}

// ListenLocally opens the socket for the commands of this user; nil: there is
// none. A socket that the user names must be had. Without the usual one, which
// another server may have, the server does without.
func ListenLocally(getenv func(string) string, path string, log *slog.Logger) (net.Listener, error) {
	if path == noSocket {
		return nil, nil
	}
	named := path != "" || getenv("DIGLOT_SOCKET") != ""
	if path == "" {
		var err error
		if path, err = places.Find(getenv).SocketPath(); err != nil {
			return nil, nil // a user without a home has no commands either
		}
	}
	l, err := control.Listen(path)
	if err != nil && named {
		return nil, err
	}
	if err != nil {
		log.Warn("no command can reach this server", "reason", err)
		return nil, nil
	}
	return l, nil
}
