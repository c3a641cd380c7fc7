package main

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/tools/sdk/record"
)

// startProxy starts a recording proxy in front of the server and returns its address.
// It first removes the suites' old cassettes, so that none stays that no suite records.
func startProxy(server string, chosen []suite) (address string, stop func() error, err error) {
	target, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	folder := filepath.Join(root, "cassettes")
	var wordy []string
	for _, s := range chosen {
		if s.wordy {
			wordy = append(wordy, s.named()...)
		}
		if err := removeCassettes(folder, s.named()); err != nil {
			return "", nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	proxy := record.New(target, folder, wordy)
	front := &http.Server{Handler: proxy}
	go front.Serve(listener)
	return "http://" + listener.Addr().String(), func() error {
		front.Close()
		return proxy.Close()
	}, nil
}

// removeCassettes removes the cassettes of these clients.
func removeCassettes(folder string, clients []string) error {
	for _, client := range clients {
		old, err := filepath.Glob(filepath.Join(folder, "*", "*", "*-"+client+".yaml"))
		if err != nil {
			return err
		}
		for _, file := range old {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}
