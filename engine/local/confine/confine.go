// Package confine sandboxes a process before it opens an untrusted file, so that an
// exploit gains nothing.
//
// [Enter] takes two steps, because Landlock and capabilities apply to threads, and a
// Go program has several before main. First one thread drops privileges, restricts
// itself with Landlock (files, TCP, signals) and executes the program again, whose
// threads inherit all that. Then a seccomp filter refuses system calls that the
// program does not need, such as execve, ptrace and socket.
//
// What the kernel does not support is left out; [Held] says what is in force.
// [LimitMemory] is separate, as the limit is known only after the model is planned.
package confine

import (
	"fmt"
	"strings"
)

// Marker is the environment variable that says that the first step is done, and with
// which result.
const Marker = "DIGLOT_CONFINED"

// Needs are what a process keeps access to.
type Needs struct {
	Files  []string // to read; missing ones are skipped
	Socket int      // descriptor of a Unix socket that it removes at exit, with its directory; 0: none
	State  string   // the value of [Marker] in its environment
}

// Held says how a process is confined. The zero value is not at all.
type Held struct {
	Privileges bool   // no_new_privs is set and capabilities are dropped
	Files      int    // Landlock ABI version; 0: none
	Calls      bool   // a seccomp filter is installed
	Without    string // why something is left out; empty: nothing is
}

// String lists what is in force.
func (h Held) String() string {
	var all []string
	if h.Privileges {
		all = append(all, "no new privileges")
	}
	if h.Files > 0 {
		all = append(all, fmt.Sprintf("Landlock %d", h.Files))
	}
	if h.Calls {
		all = append(all, "seccomp")
	}
	if len(all) == 0 {
		all = append(all, "nothing")
	}
	return strings.Join(all, ", ")
}
