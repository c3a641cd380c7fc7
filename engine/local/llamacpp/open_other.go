//go:build !llamacpp || !cgo

package llamacpp

import (
	"context"
	"errors"

	"github.com/diglot/diglot/engine/local/decode"
)

// Open fails: this build has no llama.cpp.
func Open(context.Context, Options) (*decode.Model, error) {
	return nil, errors.New("this build has no llama.cpp engine; build with `make build`")
}
