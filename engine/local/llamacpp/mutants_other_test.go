//go:build llamacpp && cgo && !linux

package llamacpp

import "testing"

func limitMemory(*testing.T) {}
