package llamacpp

import (
	"bytes"
	"os"
	"runtime"
	"time"
)

// llama.cpp's threads spin at barriers, hundreds of times per step. A thread
// without a core stalls the others, which burn the cores that it waits for: on a
// busy machine two threads are many times slower than one.

// physicalCores counts cores, not hardware threads, which share a core's vector
// units. GOMAXPROCS respects the limits of a container.
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

// countCores counts the distinct pairs of socket and core in /proc/cpuinfo; 0 if
// it lists none (ARM).
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

// governor sets the number of threads for each step: the cores that other
// processes leave free, as a moving average.
type governor struct {
	max   int  // threads
	cores int  // that this process may use
	fixed bool // set by the operator

	last cpuTime
	at   time.Time // of last
	busy float64   // cores used by other processes, moving average
}

func newGovernor(o Options) *governor {
	return &governor{max: o.Threads, cores: runtime.NumCPU(), fixed: o.fixedThreads}
}

const (
	// sampleEvery covers many of the kernel's ticks, 10 ms each.
	sampleEvery = 250 * time.Millisecond

	// sampleWeight makes the average cover a second or two.
	sampleWeight = 0.25
)

// threads is called between steps.
func (g *governor) threads(now time.Time) int {
	if g.fixed || g.max == 1 {
		return g.max
	}
	passed := now.Sub(g.at)
	if passed < sampleEvery {
		return g.free()
	}
	t, ok := readCPUTime()
	if !ok {
		return g.max
	}
	if passed < 4*sampleEvery { // a longer pause says nothing about now
		g.addSample(float64(t.others-g.last.others) / ticksPerSecond / passed.Seconds())
	}
	g.last, g.at = t, now
	return g.free()
}

// addSample updates the average with the cores that other processes used.
func (g *governor) addSample(others float64) {
	g.busy += (max(others, 0) - g.busy) * sampleWeight
}

func (g *governor) free() int {
	return min(max(g.cores-int(g.busy+0.5), 1), g.max)
}

// FreeCores returns a function that returns how many of so many threads should
// compute the next step: the rule by which models share the cores. It is not safe for
// concurrent use.
func FreeCores(threads int) func() int {
	g := newGovernor(Options{Threads: threads})
	return func() int { return g.threads(time.Now()) }
}

// DefaultThreads is the default of Options.Threads.
func DefaultThreads() int { return physicalCores() }
