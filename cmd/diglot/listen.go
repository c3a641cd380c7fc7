package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/diglot/diglot/control"
)

// noSocket is the --socket of a server that no command is to reach.
const noSocket = "none"

// listen opens what clients connect to: what systemd has opened, or else the
// address.
func listen(env environment, address string) ([]net.Listener, error) {
	if env.getenv("LISTEN_FDS") != "" {
		return inherit()
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return []net.Listener{l}, nil
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

// listenLocally opens the socket for the commands of this user; nil: there is
// none. A socket that the user names must be had. Without the usual one, which
// another server may have, the server does without.
func listenLocally(env environment, path string, log *slog.Logger) (net.Listener, error) {
	if path == noSocket {
		return nil, nil
	}
	named := path != "" || env.getenv("DIGLOT_SOCKET") != ""
	if path == "" {
		var err error
		if path, err = findPlaces(env).socketPath(); err != nil {
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
