//go:build !linux

package llamacpp

// releaseMappedPages does nothing: only Linux has /proc/self/maps.
func releaseMapped([]string) {}
