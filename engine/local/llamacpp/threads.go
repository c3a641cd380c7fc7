package llamacpp

import (
	"bytes"
	"os"
	"runtime"
	"time"
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
// are cores that other programs leave free, as a moving average.
type governor struct {
	most  int  // threads
	cores int  // that this process may use
	fixed bool // the operator chose

	last cpuTime
	at   time.Time // of last
	busy float64   // cores that others use, on average
}

func newGovernor(o Options) *governor {
	return &governor{most: o.Threads, cores: runtime.NumCPU(), fixed: o.fixedThreads}
}

const (
	// lookEvery is how long the machine is watched for one look: the kernel
	// counts in hundredths of a second.
	lookEvery = 250 * time.Millisecond

	// weightOfNow is the share of one look in the average: a second or two
	// decide.
	weightOfNow = 0.25
)

// threads is called between steps.
func (g *governor) threads(now time.Time) int {
	if g.fixed || g.most == 1 {
		return g.most
	}
	passed := now.Sub(g.at)
	if passed < lookEvery {
		return g.free()
	}
	t, ok := readCPUTime()
	if !ok {
		return g.most
	}
	if passed < 4*lookEvery { // else there was a pause, which says nothing of now
		g.see(float64(t.others-g.last.others) / ticksPerSecond / passed.Seconds())
	}
	g.last, g.at = t, now
	return g.free()
}

// see takes one look into the average: how many cores others used.
func (g *governor) see(others float64) {
	g.busy += (max(others, 0) - g.busy) * weightOfNow
}

func (g *governor) free() int {
	return min(max(g.cores-int(g.busy+0.5), 1), g.most)
}

// DefaultThreads is how many threads compute where nothing is said.
func DefaultThreads() int { return physicalCores() }
