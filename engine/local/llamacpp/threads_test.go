package llamacpp

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

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

func TestAllowedCPUs(t *testing.T) {
	for _, tt := range []struct {
		name, status string
		want         map[int]bool
		ok           bool
	}{
		{"one range", "Name:\tx\nCpus_allowed_list:\t0-2\nMems:\t0\n", map[int]bool{0: true, 1: true, 2: true}, true},
		{"single ones and ranges", "Cpus_allowed_list:\t1,4-5\n", map[int]bool{1: true, 4: true, 5: true}, true},
		{"absent", "Name:\tx\n", nil, false},
		{"nonsense", "Cpus_allowed_list:\tall\n", nil, false},
	} {
		got, ok := allowedCPUs([]byte(tt.status))
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s: ok %v, (-want +got)\n%s", tt.name, ok, diff)
		}
	}
}

func TestOwnTicks(t *testing.T) {
	const stat = "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 700 55 0 0 20 0\n"
	if got, ok := ownTicks([]byte(stat)); got != 755 || !ok {
		t.Errorf("got %d, %v", got, ok)
	}
	if _, ok := ownTicks([]byte("42 (x) S 1")); ok {
		t.Error("a short line was taken")
	}
}

func TestBusyTicks(t *testing.T) {
	const stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 4 1000 1000 8 16 1000 0 0\ncpu1 32 0 0 0 0 0 0 0 0 0\ncpu2 64 0 0 0 0 0 0 0 0 0\nintr 1\n"
	if got := busyTicks([]byte(stat), map[int]bool{0: true, 2: true}); got != 1+2+4+8+16+64 {
		t.Errorf("got %d", got)
	}
}

func TestReadCPUTime(t *testing.T) {
	before, ok := readCPUTime(threadIDs())
	if !ok {
		if runtime.GOOS == "linux" {
			t.Error("no times on Linux")
		}
		return
	}
	after, _ := readCPUTime(threadIDs())
	if after.others < before.others-1 { // the two files are read one after the other
		t.Errorf("others went from %d to %d ticks", before.others, after.others)
	}
}

func TestWaitedIn(t *testing.T) {
	for _, tt := range []struct {
		name, stat string
		want       time.Duration
	}{
		{"a thread", "153123 75967 12\n", 75967},
		{"without counts", "0 0 0\n", 0},
		{"of another kernel", "1 2 3 4\n", 0},
		{"nonsense", "1 x 3\n", 0},
		{"empty", "", 0},
	} {
		if got := waitedIn([]byte(tt.stat)); got != tt.want {
			t.Errorf("%s: %d ns, want %d", tt.name, got, tt.want)
		}
	}
}

func TestGovernor(t *testing.T) {
	g := &governor{max: 4, cores: 8}
	for _, tt := range []struct {
		name   string
		needed float64
		looks  int // each of 50 ms
		want   int
	}{
		{"idle", 0, 10, 4},
		{"one spike", 8, 1, 4},
		{"half busy", 4, 80, 4},
		{"busier", 6, 4, 2},
		{"overloaded", 30, 4, 1},
		{"idle for an instant", 0, 4, 1},
		{"idle again", 0, 80, 4},
	} {
		for range tt.looks {
			g.add(tt.needed, sampleEvery)
		}
		if got := g.free(); got != tt.want {
			t.Errorf("%s: %d threads, want %d", tt.name, got, tt.want)
		}
	}
}
