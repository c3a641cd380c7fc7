package llamacpp

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// Threads. llama.cpp's threads wait for each other in a busy loop, hundreds
// of times in each step. One of them that does not get a core holds up all
// others, which burn the cores that it waits for: on a machine that other
// programs keep busy, two threads are many times slower than one.

// physicalCores counts cores, not hardware threads: two threads of one core
// share the units that do the arithmetic. GOMAXPROCS respects the limits of
// a container.
func physicalCores() int {
	limit := runtime.GOMAXPROCS(0)
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return limit
	}
	if n := countCores(info); n > 0 {
		return min(n, limit)
	}
	return limit
}

// countCores counts the different pairs of socket and core in the text of
// /proc/cpuinfo; 0 where it does not tell them (ARM).
func countCores(cpuinfo []byte) int {
	type core struct{ socket, id string }
	seen := map[core]bool{}
	var c core
	for line := range bytes.Lines(cpuinfo) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		switch string(bytes.TrimSpace(key)) {
		case "physical id":
			c.socket = string(bytes.TrimSpace(value))
		case "core id":
			c.id = string(bytes.TrimSpace(value))
			seen[c] = true
		}
	}
	return len(seen)
}

// governor decides how many threads compute the next step: as many as there
// are cores that nobody else uses, as a moving average.
type governor struct {
	most  int     // threads
	cores int     // of the machine
	busy  float64 // cores that others use, on average
	fixed bool    // the operator chose
}

func newGovernor(o Options) *governor {
	return &governor{most: o.Threads, cores: runtime.NumCPU(), fixed: o.fixedThreads}
}

// weightOfNow is the share of one look in the average: about thirty steps
// decide.
const weightOfNow = 0.05

// threads looks at the machine. It is called between steps, when of this
// process only the caller runs.
func (g *governor) threads() int {
	if g.fixed || g.most == 1 {
		return g.most
	}
	loadavg, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return g.most
	}
	running, ok := runningThreads(string(loadavg))
	if !ok {
		return g.most
	}
	return g.see(running - 1)
}

// see takes one look into the average, where others is how many threads of
// others run or want to.
func (g *governor) see(others int) int {
	g.busy += (float64(max(others, 0)) - g.busy) * weightOfNow
	free := g.cores - int(g.busy+0.5)
	return min(max(free, 1), g.most)
}

// runningThreads reads the fourth field of /proc/loadavg, "running/all".
func runningThreads(loadavg string) (int, bool) {
	fields := strings.Fields(loadavg)
	if len(fields) < 4 {
		return 0, false
	}
	running, _, _ := strings.Cut(fields[3], "/")
	n, err := strconv.Atoi(running)
	return n, err == nil
}

// DefaultThreads is how many threads compute where nothing is said.
func DefaultThreads() int { return physicalCores() }
