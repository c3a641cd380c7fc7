package llamacpp

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"slices"
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

// governor sets the number of threads for each step, by the cores that others need: what
// other processes used, and what the computing threads waited for. Beside a process that
// never waits, two threads on two cores get three quarters of them, and most of that is
// spent at barriers: one thread was measured to be two to four times as fast.
type governor struct {
	max     int   // threads
	cores   int   // that this process may use
	threads []int // the IDs of those that compute; none: their waits are not known

	last   cpuTime
	at     time.Time // of last
	ended  time.Time // of the last step
	needed float64   // cores that others need, moving average
}

func newGovernor(o Options) *governor {
	return &governor{max: o.Threads, cores: runtime.NumCPU()}
}

const (
	// sampleEvery covers a few of the kernel's ticks, 10 ms each.
	sampleEvery = 50 * time.Millisecond

	// The average follows a rise at once: a thread too many costs far more than one
	// too few.
	risesWithin = 70 * time.Millisecond
	fallsWithin = 300 * time.Millisecond

	// longPause between two steps says nothing about what others need now.
	longPause = time.Second

	// longestStep is what a step may take where its end is not told.
	longestStep = time.Minute

	// spared is how much of a core others may need before it is left to them.
	spared = 0.75
)

// watch counts the waits of the threads that have begun since others were running. One of
// Go's may be among them, which hardly ever waits.
func (g *governor) watch(running []int) {
	for _, id := range threadIDs() {
		if !slices.Contains(running, id) {
			g.threads = append(g.threads, id)
		}
	}
}

// begin is called before each step, and returns the number of its threads.
func (g *governor) begin(now time.Time) int {
	if g.max == 1 {
		return 1
	}
	passed := now.Sub(g.at)
	if passed < sampleEvery {
		return g.free()
	}
	t, ok := readCPUTime(g.threads)
	if !ok {
		return g.max
	}
	if now.Sub(g.ended) < longPause {
		others := float64(max(t.others-g.last.others, 0)) / ticksPerSecond
		waited := max(t.waited-g.last.waited, 0).Seconds() // a thread may have ended
		g.add((others+waited)/passed.Seconds(), passed)
	} else {
		g.needed = 0
	}
	g.last, g.at = t, now
	return g.free()
}

// end is called after each step.
func (g *governor) end(now time.Time) { g.ended = now }

// add updates the average with the cores that others needed for a while.
func (g *governor) add(needed float64, passed time.Duration) {
	within := fallsWithin
	if needed > g.needed {
		within = risesWithin
	}
	g.needed += (needed - g.needed) * -math.Expm1(-passed.Seconds()/within.Seconds())
}

func (g *governor) free() int {
	return min(max(g.cores-int(g.needed+1-spared), 1), g.max)
}

// FreeCores returns a function that returns how many of so many threads should
// compute the next step: the rule by which models share the cores. It is not safe for
// concurrent use.
func FreeCores(threads int) func() int {
	g := newGovernor(Options{Threads: threads})
	return func() int {
		now := time.Now()
		if now.Sub(g.at) < longestStep {
			g.end(now) // the last step, which took until now
		}
		return g.begin(now)
	}
}

// DefaultThreads is the default of Options.Threads.
func DefaultThreads() int { return physicalCores() }
