package llamacpp

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of /proc, the same on every Linux.
const ticksPerSecond = 100

// cpuTime is how much processors have worked since the machine started.
type cpuTime struct {
	others int64 // ticks of those that this process may use, for other processes
}

// readCPUTime reads /proc; false where there is none.
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

// allowedCPUs reads the numbers of the processors that the process may use
// from the text of /proc/self/status: in a container they are few of those
// that /proc/stat lists.
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

// ownTicks reads the time of this process, in and out of the kernel, from the
// text of /proc/self/stat. Its second field, a name in parentheses, may hold
// blanks.
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

// busyTicks adds up the lines of /proc/stat, "cpu3 user nice system idle
// iowait irq softirq ...", without what was idle.
func busyTicks(stat []byte, allowed map[int]bool) int64 {
	var busy int64
	for line := range bytes.Lines(stat) {
		fields := strings.Fields(string(line))
		if len(fields) < 8 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		n, err := strconv.Atoi(fields[0][len("cpu"):])
		if err != nil || !allowed[n] { // the first line is the sum of all
			continue
		}
		for _, i := range []int{1, 2, 3, 6, 7} {
			ticks, _ := strconv.ParseInt(fields[i], 10, 64)
			busy += ticks
		}
	}
	return busy
}
