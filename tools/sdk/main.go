// Command sdk runs the vendors' SDKs for Python, Node and Go against a diglot
// server that it starts itself.
//
//	go -C tools/sdk run .                        over cassettes/script.yaml
//	go -C tools/sdk run . -model NAME=FILE       over a real model, with bin/diglot
//	go -C tools/sdk run . -record                over the script, writing cassettes
//
// The SDKs get a base URL and a key, nothing else. Its last line counts.
// It is a module of its own, so that what SDKs need stays out of the server's
// go.mod.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/diglot/diglot/tools/sdk/record"
)

// root is the repository, seen from the folder of this module.
const root = "../.."

type options struct {
	model  string // NAME=FILE, or empty for the script
	record bool
	suites []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.model, "model", "", "serve this model, `NAME=FILE`, in place of the script")
	flag.BoolVar(&o.record, "record", false, "write cassettes")
	flag.Parse()
	o.suites = flag.Args()
	failed, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sdk:", err)
	}
	if err != nil || failed > 0 {
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (failed int, err error) {
	address, stop, err := startServer(ctx, o.model)
	if err != nil {
		return 0, err
	}
	defer stop()
	model, mode := "scripted", "script"
	if o.model != "" {
		model, _, _ = strings.Cut(o.model, "=")
		mode = "real"
	}
	if o.record {
		mode = "record"
		proxy, closeProxy, err := startProxy(address)
		if err != nil {
			return 0, err
		}
		defer func() {
			if closing := closeProxy(); err == nil {
				err = closing
			}
		}()
		address = proxy
	}
	passed := 0
	for _, s := range suites {
		if len(o.suites) > 0 && !slices.Contains(o.suites, s.name) {
			continue
		}
		p, f, err := s.run(ctx, address, model, mode)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", s.name, err)
		}
		passed, failed = passed+p, failed+f
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	return failed, nil
}

// startProxy puts a recording proxy in front of the server and returns its
// address. The cassettes of before are removed first: what no suite makes any
// more must not stay.
func startProxy(server string) (address string, stop func() error, err error) {
	target, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	folder := filepath.Join(root, "cassettes")
	for _, style := range []string{"openai", "anthropic"} {
		if err := os.RemoveAll(filepath.Join(folder, style)); err != nil {
			return "", nil, err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	proxy := record.New(target, folder)
	front := &http.Server{Handler: proxy}
	go front.Serve(listener)
	return "http://" + listener.Addr().String(), func() error {
		front.Close()
		return proxy.Close()
	}, nil
}
