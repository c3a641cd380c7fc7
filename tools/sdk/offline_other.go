//go:build !linux

package main

import (
	"context"
	"errors"
	"os/exec"
)

var errNoNamespaces = errors.New("network namespaces need Linux")

func isolated(ctx context.Context, args ...string) *exec.Cmd {
	return &exec.Cmd{Err: errNoNamespaces}
}

func raiseLoopback() error { return errNoNamespaces }
