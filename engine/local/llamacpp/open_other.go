//go:build !llamacpp || !cgo

package llamacpp

import (
	"context"
	"errors"
)

// Open fails: this build has no llama.cpp in it.
func Open(context.Context, Options) (*Model, error) {
	return nil, errors.New("this build has no llama.cpp engine; build with `make build`")
}
