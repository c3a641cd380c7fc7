package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestMain makes the test binary a process that confines itself and then tries
// what it must not be able to do.
func TestMain(m *testing.M) {
	if len(os.Args) < 3 || os.Args[1] != "confined" {
		os.Exit(m.Run())
	}
	var a attempts
	if err := json.Unmarshal([]byte(os.Args[2]), &a); err != nil {
		panic(err) // the process of a test, which has no t
	}
	a.Held = Enter(Needs{Files: []string{a.Model}, State: os.Getenv(Marker)})
	a.try()
	if err := json.NewEncoder(os.Stdout).Encode(a); err != nil {
		panic(err) // the process of a test, which has no t
	}
}

// attempts are what a confined process tries, and what came of it.
type attempts struct {
	Model, Other, Folder, Address, Socket string
	Parent                                int

	Held   Held
	Failed map[string]string // what was tried, and the error
}

func (a *attempts) try() {
	a.Failed = map[string]string{}
	for name, try := range a.all() {
		if err := try(); err != nil {
			a.Failed[name] = err.Error()
		}
	}
}

func (a *attempts) all() map[string]func() error {
	open := func(path string) func() error {
		return func() error { _, err := os.ReadFile(path); return err }
	}
	dial := func(network, address string) func() error {
		return func() error { _, err := net.Dial(network, address); return err }
	}
	return map[string]func() error{
		"read the model":           open(a.Model),
		"read about the processor": open("/proc/cpuinfo"),
		"read about itself":        open("/proc/self/status"),
		"read the time zone":       absentIsFine(open("/etc/localtime")),
		"read another file":        open(a.Other),
		"read passwords":           open("/etc/passwd"),
		"read its parent's words":  open(fmt.Sprintf("/proc/%d/cmdline", a.Parent)),
		"list a folder":            func() error { _, err := os.ReadDir(a.Folder); return err },
		"write a file":             func() error { return os.WriteFile(filepath.Join(a.Folder, "new"), nil, 0o600) },
		"write to the model":       func() error { return os.WriteFile(a.Model, nil, 0o600) },
		"remove the model":         func() error { return os.Remove(a.Model) },
		"make it readable":         func() error { return os.Chmod(a.Model, 0o777) },
		"connect to a port":        dial("tcp", a.Address),
		"connect to a socket":      dial("unix", a.Socket),
		"send a packet":            dial("udp", a.Address),
		"listen on a port":         func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"run a program":            func() error { return exec.Command("/bin/true").Run() },
		"become a program":         func() error { return syscall.Exec("/bin/true", []string{"true"}, nil) },
		"signal its parent":        func() error { return syscall.Kill(a.Parent, 0) },
		"look into its parent":     func() error { return unix.PtraceAttach(a.Parent) },
		"limit its parent":         func() error { return unix.Prlimit(a.Parent, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 10, Max: 10}, nil) },
		"make a namespace":         func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
		"mount":                    func() error { return unix.Mount("none", a.Folder, "tmpfs", 0, "") },
		"change user":              func() error { return allThreads(unix.SYS_SETUID, 12345) },
		"start a ring":             func() error { _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0); return number(errno) },
		"use a descriptor":         a.useDescriptor,
		"signal itself":            func() error { return syscall.Kill(os.Getpid(), 0) },
		"begin a thread":           func() error { done := make(chan error); go func() { done <- nil }(); return <-done },
	}
}

// useDescriptor finds one of the file that was left open.
func (a *attempts) useDescriptor() error {
	for fd := firstFree; fd < 100; fd++ {
		if path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); err == nil && path == "/etc/passwd" {
			return nil
		}
	}
	return errors.New("there is none")
}

func number(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

func allThreads(call, arg uintptr) error {
	_, _, errno := unix.RawSyscall(call, arg, 0, 0)
	return number(errno)
}

func absentIsFine(open func() error) func() error {
	return func() error {
		if err := open(); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
}

// TestConfined has a process try what one that is broken into would. What a
// kernel cannot refuse is left out, and the test says which parts it has.
func TestConfined(t *testing.T) {
	has := Supported()
	t.Logf("this kernel has: %s %s", has, has.Without)
	folder := t.TempDir()
	a := attempts{
		Model: filepath.Join(folder, "model"), Other: filepath.Join(folder, "other"), Folder: folder,
		Socket: filepath.Join(folder, "s"), Parent: os.Getpid(),
	}
	for _, path := range []string{a.Model, a.Other} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": a.Socket} {
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if network == "tcp" {
			a.Address = l.Addr().String()
		}
	}
	got := confined(t, a)
	if diff := cmp.Diff(has, got.Held); diff != "" {
		t.Errorf("what holds (-kernel +process):\n%s", diff)
	}
	for name := range a.all() {
		_, failed := got.Failed[name]
		switch {
		case slices.Contains(allowed, name):
			if failed {
				t.Errorf("%s: %s", name, got.Failed[name])
			}
		case slices.Contains(refusedByFiles, name) && has.Files > 0 || !slices.Contains(refusedByFiles, name) && has.Calls:
			if !failed {
				t.Errorf("%s: it can", name)
			}
		}
	}
	if _, err := os.Stat(a.Model); err != nil {
		t.Error("the model is gone")
	}
}

// allowed are the attempts that succeed, and refusedByFiles those that Landlock
// alone refuses.
var (
	allowed        = []string{"read the model", "read about the processor", "read about itself", "read the time zone", "signal itself", "begin a thread"}
	refusedByFiles = []string{"read another file", "read passwords", "read its parent's words", "list a folder", "remove the model"}
)

// confined runs a process that confines itself.
func confined(t *testing.T, a attempts) attempts {
	t.Helper()
	request, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "confined", string(request))
	cmd.Env = []string{}
	left, err := os.Open("/etc/passwd") // by somebody careless, for whoever comes
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	cmd.ExtraFiles = []*os.File{left, left, left, left, left, left, left, left, left, left, left, left, left, left, left, left}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	reply, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	var got attempts
	if err := json.Unmarshal(reply, &got); err != nil {
		t.Fatalf("%v: %s", err, reply)
	}
	return got
}

// TestFilterNamesEachCallOnce: the first rule for a call decides.
func TestFilterNamesEachCallOnce(t *testing.T) {
	seen := map[uint32]bool{}
	for _, call := range refused() {
		if seen[call] {
			t.Errorf("call %d is there twice", call)
		}
		seen[call] = true
	}
	for _, call := range []uint32{unix.SYS_CLONE, unix.SYS_OPENAT, unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_PRLIMIT64, unix.SYS_FUTEX, unix.SYS_ACCEPT4} {
		if seen[call] {
			t.Errorf("call %d is refused whatever its arguments are", call)
		}
	}
}
