// Package confine takes from a process what it does not need, before it looks
// at a file that is not trusted: whoever breaks into it finds nothing else.
//
// [Enter] does so in two steps, because the kernel restricts threads, and a Go
// program has several before its main function begins. First a thread gives up
// its privileges, all files but those that are named, TCP, and signals to
// others, and executes the program anew, whose threads all begin like that.
// Then the program refuses itself the system calls that it has no use for: no
// other program, no process, no socket.
//
// What a kernel or a system does not have is left out, and [Held] says what
// there is. [LimitMemory] is apart: how much a process may take is known when
// it has read what it is for.
package confine

import (
	"fmt"
	"strings"
)

// Marker is the name of the variable that tells a process that it has taken
// the first step, and what was to be had there.
const Marker = "DIGLOT_CONFINED"

// Needs are what a process needs.
type Needs struct {
	Files  []string // that it reads; what is not there is passed over
	Socket int      // the descriptor of a Unix socket that it removes at its end, with its folder; 0: none
	State  string   // the value of [Marker] in its environment
}

// Held is what holds a process. The zero value is nothing.
type Held struct {
	Privileges bool   // it has none, and gains none
	Files      int    // the version of Landlock; 0: none
	Calls      bool   // system calls that it needs not are refused
	Without    string // why something is left out; empty: it is not
}

// String lists what holds, for people.
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
