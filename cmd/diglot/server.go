package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/cmd/diglot/internal/control"
	"github.com/diglot/diglot/cmd/diglot/internal/places"
)

// dial makes a client of the user's server. Whether one runs shows when it is
// asked something.
func dial(env environment) (*control.Client, error) {
	path, err := places.Find(env.getenv).SocketPath()
	if err != nil {
		return nil, err
	}
	return control.Dial(path), nil
}

// running reports whether a server answers.
func running(ctx context.Context, server *control.Client) (bool, error) {
	_, err := server.Version(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return false, nil
	}
	return err == nil, err
}

// checkStore refuses a server that serves another store than own, which is
// the one of this command: what the command puts there, or finds there, the
// server does not have. served is empty where the server has none.
func checkStore(served, own string) error {
	if served == "" || sameFolder(served, own) {
		return nil
	}
	return fmt.Errorf("the running server has the models of %s, and this command those of %s; set DIGLOT_MODELS=%s", served, own, served)
}

// sameFolder compares absolute paths, on which there may be symbolic links.
// The folders need not exist yet.
func sameFolder(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	switch {
	case errA == nil && errB == nil:
		return os.SameFile(infoA, infoB)
	case errA == nil || errB == nil:
		return false
	}
	return filepath.Base(a) == filepath.Base(b) && (a == b || sameFolder(filepath.Dir(a), filepath.Dir(b)))
}
