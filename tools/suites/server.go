package main

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/diglot/diglot/engine/mock"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
)

// serve serves models that are made from their requests, under one profile, and returns the
// server's URL.
func serve(profile openapi.Profile) (url string, stop func(), err error) {
	log := slog.New(slog.DiscardHandler)
	engine, err := mock.New(mock.Config{Log: log, Clock: time.Now})
	if err != nil {
		return "", nil, err
	}
	handler, err := handlers.New(handlers.Config{Engine: engine, Log: log, Profile: profile})
	if err != nil {
		engine.Close()
		return "", nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		engine.Close()
		return "", nil, err
	}
	server := handlers.NewServer(handler, log)
	go server.Serve(listener)
	return "http://" + listener.Addr().String(), func() { server.Close(); engine.Close() }, nil
}
