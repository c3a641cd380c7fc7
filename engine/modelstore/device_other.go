//go:build !unix

package modelstore

// sameDevice reports whether a file can be renamed from one folder to the other.
func sameDevice(string, string) bool { return true }
