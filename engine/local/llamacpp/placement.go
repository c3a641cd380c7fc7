package llamacpp

import (
	"bytes"
	"os"
)

// placement is where the weights of a model are.
type placement int

const (
	// mapped weights are the system's cache of the file, in pages of 4 KiB.
	mapped placement = iota

	// copied weights are memory of the process's own, in pages of 2 MiB or more: each
	// token reads all of them, and finding so many small pages takes a
	// tenth of its time.
	copied
)

// placement copies the weights where that makes them faster, and where it is
// known that there is memory for them: mapped ones the system can drop, and
// read again.
func (o Options) placement() placement {
	if _, err := o.Available(); err != nil || !grantsHugePages() {
		return mapped
	}
	return copied
}

// grantsHugePages reports whether the system gives huge pages to those who ask.
func grantsHugePages() bool {
	const path = "/sys/kernel/mm/transparent_hugepage/enabled"
	modes, err := os.ReadFile(path) // "always [madvise] never" on Linux; elsewhere there is no such file
	return err == nil && (bytes.Contains(modes, []byte("[always]")) || bytes.Contains(modes, []byte("[madvise]")))
}
