package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolated returns a command that runs this program in a new network namespace, which
// has only loopback, after [raiseLoopback].
func isolated(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/proc/self/exe", args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN}, // for raiseLoopback, if not root
	}
	return cmd
}

// raiseLoopback brings up the loopback device, which is down in a new namespace.
func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	device, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_UP)
	return os.NewSyscallError("raising lo", unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, device))
}
