//go:build llamacpp && cgo && linux

package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	soakTime = flag.Duration("soak", time.Minute, "how long TestSoak goes on")
	soakSeed = flag.Uint64("soakseed", 0, "of what TestSoak does; 0: any")
)

const (
	soakClients  = 16
	soakContext  = 1024
	soakParallel = 4

	// soakPeriod is a time in which the model's process is killed once, at
	// its first quarter. Memory is looked at when one is over.
	soakPeriod = 20 * time.Second

	// soakTolerance is how much the memory at the end may differ from that at
	// the mark.
	soakTolerance = 0.05
)

// TestSoak lets many clients, good, bad and gone, ask a server that computes
// a real model, whose process is killed again and again. No reply is wrong,
// and in the end nothing is left or has grown.
func TestSoak(t *testing.T) {
	s := startSoaked(t)
	seed := *soakSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	soak := newSoak(t, s, seed)
	soak.askOnce() // the model is loaded
	var running sync.WaitGroup
	for client := range soakClients {
		running.Go(func() { soak.client(ctx, client) })
	}
	periods := max(2, int(*soakTime/soakPeriod))
	mark := 1
	if periods > 6 {
		mark = int(time.Minute / soakPeriod)
	}
	var before, after footprint
	for period := 1; period <= periods && !t.Failed(); period++ {
		wait(ctx, soakPeriod/4)
		soak.kill(period)
		wait(ctx, soakPeriod*3/4)
		switch period {
		case mark:
			before = soak.measure(footprint{})
		case periods:
			after = soak.measure(before)
		}
	}
	stop()
	running.Wait()
	t.Logf("seed %d, %d s: %s", seed, int(soakPeriod.Seconds())*periods, soak.figures())
	t.Logf("after %d s: %v; in the end: %v", int(soakPeriod.Seconds())*mark, before, after)
	if t.Failed() {
		return
	}
	if grown := float64(after.memory())/float64(before.memory()) - 1; grown > soakTolerance || grown < -soakTolerance {
		t.Errorf("memory has changed by %.1f %%", 100*grown)
	}
	if after.goroutines > before.goroutines || after.files > before.files+keptConnections {
		t.Errorf("goroutines %d, then %d; open files %d, then %d: %q", before.goroutines, after.goroutines, before.files, after.files, s.openFiles())
	}
	children := s.children()
	s.end()
	for _, pid := range children {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("the process %d is left", pid)
		}
	}
}

// keptConnections is how many connections to the model's process the server may
// keep for the next requests: as many as it needed at the same time, up to this.
const keptConnections = 4

// wait waits for a time or the end of ctx.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// soaked is a server in a process of its own, so that its memory is its own.
type soaked struct {
	t       *testing.T
	address string
	process *os.Process
	reports chan string // what [reportOnSignal] says
	ended   chan error
}

var soakReport = regexp.MustCompile(`soak: pid=(\d+) goroutines=(\d+)`)

func startSoaked(t *testing.T) *soaked {
	t.Helper()
	home := t.TempDir()
	c := exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--socket", "none",
		"--model", "m="+smallestModel(t), "--context", strconv.Itoa(soakContext), "--parallel", strconv.Itoa(soakParallel), "--threads", "1")
	c.Env = append(os.Environ(), "HOME="+home)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s := &soaked{t: t, process: c.Process, reports: make(chan string, 64), ended: make(chan error, 1)}
	t.Cleanup(func() { _ = c.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "listening on http://") {
		t.Fatalf("the first line is %q", lines.Text())
	}
	s.address = strings.TrimPrefix(lines.Text(), "listening on http://")
	go func() {
		for lines.Scan() {
			switch line := lines.Text(); {
			case soakReport.MatchString(line):
				s.reports <- line
			case strings.Contains(line, "panic") || strings.Contains(line, "level=ERROR") && !strings.Contains(line, "process"):
				t.Errorf("the log: %s", line)
			}
		}
		s.ended <- c.Wait()
	}()
	return s
}

// end ends the server as a user does.
func (s *soaked) end() {
	s.t.Helper()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			s.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(time.Minute):
		s.t.Error("the server does not end")
	}
}

// children are the processes that the server has started.
func (s *soaked) children() []int {
	var all []int
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		s.t.Error(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		rest := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
		if len(rest) < 2 || rest[0] == "Z" || rest[1] != strconv.Itoa(s.process.Pid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// reportOnSignal makes a process, on a signal, give back the memory that it
// does not need and say how many goroutines it has.
func reportOnSignal() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for range asked {
			debug.FreeOSMemory()
			fmt.Fprintf(os.Stderr, "soak: pid=%d goroutines=%d\n", os.Getpid(), runtime.NumGoroutine())
		}
	}()
}

// footprint is what the server and its processes take.
type footprint struct {
	server, children  int64 // kB of memory that is their own
	goroutines, files int   // of the server
}

func (f footprint) memory() int64 { return f.server + f.children }

func (f footprint) String() string {
	return fmt.Sprintf("server %.1f MB, %d goroutines, %d files; model %.1f MB",
		float64(f.server)/1000, f.goroutines, f.files, float64(f.children)/1000)
}

// measure lets all clients rest, and looks until what is counted is no more
// than before, or does not change any more: connections that were given up
// take a moment to end.
func (k *soak) measure(before footprint) footprint {
	k.rest.Lock()
	defer k.rest.Unlock()
	k.askOnce() // a process that was killed is there again
	k.askAll()  // what is made on first use is made
	k.fill()
	k.http.CloseIdleConnections()
	var f footprint
	for same := 0; same < 3; {
		wait(k.t.Context(), 200*time.Millisecond)
		last := f
		f = k.server.footprint()
		if f.goroutines == last.goroutines && f.files == last.files {
			same++
		} else {
			same = 0
		}
		if before.goroutines > 0 && f.goroutines <= before.goroutines && f.files <= before.files {
			break
		}
	}
	return f
}

func (s *soaked) footprint() footprint {
	var f footprint
	f.goroutines, f.server = s.report(s.process.Pid)
	for _, pid := range s.children() {
		_, memory := s.report(pid)
		f.children += memory
	}
	f.files = len(s.openFiles())
	return f
}

// openFiles is what the server's descriptors are.
func (s *soaked) openFiles() []string {
	directory := fmt.Sprintf("/proc/%d/fd", s.process.Pid)
	files, err := os.ReadDir(directory)
	if err != nil {
		s.t.Error(err)
	}
	names := make([]string, 0, len(files))
	for _, file := range files {
		name, err := os.Readlink(filepath.Join(directory, file.Name()))
		if err != nil {
			name = "closed meanwhile" // between the two looks
		}
		names = append(names, name)
	}
	return names
}

// report asks a process for its goroutines, and the system for its memory in
// kB after it has given back what it can.
func (s *soaked) report(pid int) (goroutines int, memory int64) {
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		s.t.Error(err)
		return 0, 0
	}
	for late := time.After(time.Minute); ; {
		select {
		case line := <-s.reports:
			said := soakReport.FindStringSubmatch(line)
			if said[1] != strconv.Itoa(pid) {
				continue // of a process that was killed
			}
			n, err := strconv.Atoi(said[2])
			if err != nil {
				s.t.Error(err)
			}
			return n, anonymous(s.t, pid)
		case <-late:
			s.t.Errorf("the process %d reports nothing", pid)
			return 0, 0
		}
	}
}

// anonymous is the memory in kB of a process that is no file's.
func anonymous(t *testing.T, pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Error(err)
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "\nAnonymous:")
	var kB int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kB); err != nil {
		t.Error(err)
	}
	return kB
}
