package llamacpp

import (
	"bytes"
	"log/slog"
	"os"
	"runtime"
)

// Options says what to load and what it may use.
type Options struct {
	// Path is the GGUF file; of a file that is split into parts, the first.
	Path string

	// Threads that compute; 0: one for each physical core. llama.cpp's
	// threads wait for each other in a busy loop: with more of them than
	// free cores, everything is slower by an order of magnitude.
	Threads int

	// Parallel is how many requests are computed at the same time; more wait.
	// 0: 8.
	Parallel int

	// Context is how many tokens one request may use, prompt and answer; 0:
	// as many as the model was trained with, as far as memory allows.
	Context int

	// Log gets llama.cpp's own messages; nil: none.
	Log *slog.Logger
}

const (
	defaultParallel = 8
	maxParallel     = 64 // llama.cpp has 256 sequences; each kept prefix needs one too
)

func (o Options) withDefaults() Options {
	if o.Threads <= 0 {
		o.Threads = physicalCores()
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	o.Parallel = min(o.Parallel, maxParallel)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

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
