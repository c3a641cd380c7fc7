package main

import "runtime"

// shareCores makes Go use one in share of the cores, unless the operator has
// said how many. What Go does beside a model is little, and a core on which
// its scheduler looks for more is one that llama.cpp's threads, on the others,
// wait for.
func shareCores(env environment, share int) {
	if env.getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0)/share, 1))
	}
}
