//go:build !unix

package serving

// descriptors is the open file limit of this process.
func descriptors() uint64 { return 1 << 20 }
