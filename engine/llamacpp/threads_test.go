package llamacpp

import "testing"

func TestCountCores(t *testing.T) {
	for _, tt := range []struct {
		name, cpuinfo string
		want          int
	}{
		{"two threads on each of two cores", "processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 0\ncore id : 0\n\nprocessor : 2\nphysical id : 0\ncore id : 1\n\nprocessor : 3\nphysical id : 0\ncore id : 1\n", 2},
		{"two sockets", "physical id : 0\ncore id : 0\n\nphysical id : 1\ncore id : 0\n", 2},
		{"not told", "processor : 0\nBogoMIPS : 50\n", 0},
	} {
		if got := countCores([]byte(tt.cpuinfo)); got != tt.want {
			t.Errorf("%s: %d cores, want %d", tt.name, got, tt.want)
		}
	}
}

func TestRunningThreads(t *testing.T) {
	for _, tt := range []struct {
		loadavg string
		want    int
		ok      bool
	}{
		{"9.05 6.18 3.00 12/345 6789\n", 12, true},
		{"0.00 0.00 0.00", 0, false},
		{"a b c d e", 0, false},
	} {
		if got, ok := runningThreads(tt.loadavg); got != tt.want || ok != tt.ok {
			t.Errorf("%q: %d, %v", tt.loadavg, got, ok)
		}
	}
}

func TestGovernor(t *testing.T) {
	g := &governor{most: 4, cores: 8}
	for _, tt := range []struct {
		name   string
		others int
		looks  int
		want   int
	}{
		{"idle", 0, 10, 4},
		{"one spike", 20, 1, 4},
		{"half busy", 4, 200, 4},
		{"busier", 6, 200, 2},
		{"overloaded", 30, 200, 1},
		{"idle again", 0, 200, 4},
	} {
		got := 0
		for range tt.looks {
			got = g.see(tt.others)
		}
		if got != tt.want {
			t.Errorf("%s: %d threads, want %d", tt.name, got, tt.want)
		}
	}
}
