package llamacpp

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is USER_HZ, the unit of /proc.
const ticksPerSecond = 100

// cpuTime is time of CPUs, since boot or since threads began.
type cpuTime struct {
	others int64         // ticks that other processes used, on the CPUs that this process may use
	waited time.Duration // of threads of this process that could have run, and had no CPU
}

// readCPUTime reads /proc; false if there is none. The threads are those whose waits
// count.
func readCPUTime(threads []int) (cpuTime, bool) {
	status, err1 := os.ReadFile("/proc/self/status")
	own, err2 := os.ReadFile("/proc/self/stat")
	all, err3 := os.ReadFile("/proc/stat")
	if err1 != nil || err2 != nil || err3 != nil {
		return cpuTime{}, false
	}
	allowed, ok := allowedCPUs(status)
	if !ok {
		return cpuTime{}, false
	}
	used, ok := ownTicks(own)
	t := cpuTime{others: busyTicks(all, allowed) - used}
	for _, id := range threads {
		t.waited += waited(id)
	}
	return t, ok
}

// waited reads how long a thread of this process waited for a CPU; 0 where Linux does
// not count it.
func waited(thread int) time.Duration {
	stat, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(thread) + "/schedstat")
	if err != nil {
		return 0
	}
	return waitedIn(stat)
}

// waitedIn reads the second number of a schedstat: "run wait slices", in nanoseconds.
func waitedIn(stat []byte) time.Duration {
	fields := strings.Fields(string(stat))
	if len(fields) != 3 {
		return 0
	}
	n, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}

// threadIDs lists the threads of this process.
func threadIDs() []int {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var ids []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// allowedCPUs reads Cpus_allowed_list from /proc/self/status. In a container it
// has few of the CPUs in /proc/stat.
func allowedCPUs(status []byte) (map[int]bool, bool) {
	_, after, ok := bytes.Cut(status, []byte("Cpus_allowed_list:"))
	if !ok {
		return nil, false
	}
	line, _, _ := strings.Cut(string(after), "\n")
	allowed := map[int]bool{}
	for part := range strings.SplitSeq(strings.TrimSpace(line), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || last-first > 1<<16 {
			return nil, false
		}
		for n := first; n <= last; n++ {
			allowed[n] = true
		}
	}
	return allowed, true
}

// ownTicks reads utime and stime from /proc/self/stat, whose second field, a name
// in parentheses, may contain spaces.
func ownTicks(stat []byte) (int64, bool) {
	end := bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return user + system, err1 == nil && err2 == nil
}

// busyTicks sums up the lines of /proc/stat, "cpu3 user nice system idle iowait
// irq softirq ...", without idle and iowait.
func busyTicks(stat []byte, allowed map[int]bool) int64 {
	var busy int64
	for line := range bytes.Lines(stat) {
		fields := strings.Fields(string(line))
		if len(fields) < 8 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		n, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || !allowed[n] { // "cpu" without a number is the sum
			continue
		}
		for _, i := range []int{1, 2, 3, 6, 7} {
			ticks, _ := strconv.ParseInt(fields[i], 10, 64)
			busy += ticks
		}
	}
	return busy
}
