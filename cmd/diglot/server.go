package main

import (
	"context"
	"errors"

	"github.com/diglot/diglot/control"
)

// dial makes a client of the user's server. Whether one runs shows when it is
// asked something.
func dial(env environment) (*control.Client, error) {
	path, err := findPlaces(env).socketPath()
	if err != nil {
		return nil, err
	}
	return control.Dial(path), nil
}

// running says whether a server answers.
func running(ctx context.Context, server *control.Client) (bool, error) {
	_, err := server.Version(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return false, nil
	}
	return err == nil, err
}
