package machine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: Linux tells programs 100 a second,
// whatever the kernel counts in.
const tick = 10 * time.Millisecond

// Processes are a process and all that it started.
type Processes struct{ root int }

// Of returns the processes of a server.
func Of(pid int) Processes { return Processes{pid} }

// CPU is the processor time that the processes have taken so far, those that ended included.
func (p Processes) CPU() (time.Duration, error) {
	total := time.Duration(0)
	err := p.each(func(pid int) error {
		s, err := readStat(pid)
		total += time.Duration(s.ticks) * tick
		return err
	})
	return total, err
}

// Memory is the memory of the processes in bytes. What several of them share counts once,
// and so does a file that is mapped; what others share with them counts in part.
func (p Processes) Memory() (int64, error) {
	total := int64(0)
	err := p.each(func(pid int) error {
		bytes, err := proportional(pid)
		total += bytes
		return err
	})
	return total, err
}

// each calls use for every process. One that ends meanwhile is left out.
func (p Processes) each(use func(pid int) error) error {
	all, err := p.list()
	if err != nil {
		return err
	}
	for _, pid := range all {
		if err := use(pid); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (p Processes) list() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil { // else it has ended
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	all := []int{p.root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}

// stat is what /proc says of a process.
type stat struct {
	parent int
	ticks  int64 // of its own and of children that it waited for
}

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(text))
}

// parseStat reads the fields behind the name, which may contain anything.
func parseStat(text string) (stat, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return stat{}, fmt.Errorf("stat of a process is %q", text)
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return stat{}, err
	}
	s := stat{parent: parent}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return stat{}, err
		}
		s.ticks += n
	}
	return s, nil
}

// proportional is the memory of a process, with its part of what it shares.
func proportional(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, err
	}
	return parsePSS(text)
}

func parsePSS(text []byte) (int64, error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var kilobytes int64
		if _, err := fmt.Sscanf(lines.Text(), "Pss: %d kB", &kilobytes); err == nil {
			return kilobytes << 10, nil
		}
	}
	return 0, fmt.Errorf("no Pss in %q", text)
}
