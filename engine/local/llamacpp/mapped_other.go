//go:build !linux

package llamacpp

// releaseMapped does nothing: only Linux tells where a file is mapped.
func releaseMapped([]string) {}
