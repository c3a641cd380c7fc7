package llamacpp

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// ticksPerSecond is USER_HZ, the unit of /proc.
const ticksPerSecond = 100

// cpuTime is CPU time since boot, in ticks.
type cpuTime struct {
	others int64 // of other processes, on the CPUs that this process may use
}

// readCPUTime reads /proc; false if there is none.
func readCPUTime() (cpuTime, bool) {
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
	return cpuTime{others: busyTicks(all, allowed) - used}, ok
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
