package llamacpp

import (
	"bytes"
	"os"
)

// placement is how weights are loaded.
type placement int

const (
	// mapped weights are in the page cache, in pages of 4 KiB.
	mapped placement = iota

	// copied weights are anonymous memory in huge pages: each token reads all
	// weights, and TLB misses on small pages take a tenth of its time.
	copied
)

// placement copies the weights if there are huge pages and it is known how much
// memory is free: unlike mapped weights, the kernel cannot drop copied ones.
func (o Options) placement() placement {
	if _, err := o.Available(); err != nil || !grantsHugePages() {
		return mapped
	}
	return copied
}

// grantsHugePages reports whether madvise(MADV_HUGEPAGE) has an effect.
func grantsHugePages() bool {
	const path = "/sys/kernel/mm/transparent_hugepage/enabled"
	modes, err := os.ReadFile(path) // "always [madvise] never" on Linux; elsewhere there is no such file
	return err == nil && (bytes.Contains(modes, []byte("[always]")) || bytes.Contains(modes, []byte("[madvise]")))
}
