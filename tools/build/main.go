// Command build compiles what needs llama.cpp.
//
//	go run ./tools/build                 builds bin/diglot with the llama.cpp engine
//	go run ./tools/build go test ARGS    runs any command in the same environment
//
// DIGLOT_CPU is the target CPU by the compiler's name
// (x86-64-v3, armv8.2-a); the default is the local one. DIGLOT_ARCH=arm64 compiles for
// Linux on arm64, with the compiler of Debian's g++-aarch64-linux-gnu.
//
// It needs only a C++ compiler: llama.cpp comes as a Go module. Go's build cache is
// keyed by the flags in the environment, so everything that compiles llama.cpp must
// go through here to compile it only once.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"

	"github.com/diglot/diglot/tools/internal/toolchain"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		stop()
		os.Exit(1)
	}
}

// run executes command in the cgo environment; an empty command builds bin/diglot.
func run(ctx context.Context, command []string) error {
	target := target(os.Getenv)
	if err := target.FindCompiler(); err != nil {
		return err
	}
	env, err := target.Environment(ctx)
	if err != nil {
		return err
	}
	if len(command) == 0 {
		if _, err := os.Stat("bin/diglot"); err != nil {
			fmt.Fprintln(os.Stderr, "build: compiling llama.cpp for this CPU; the first time takes some minutes")
		}
		command = []string{"go", "build", "-tags", "llamacpp", "-o", "bin/diglot", "./cmd/diglot"}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// target is what the environment chooses. No compiler knows the local CPU of another
// architecture.
func target(getenv func(string) string) toolchain.Target {
	arch, local := cmp.Or(getenv("DIGLOT_ARCH"), runtime.GOARCH), "native"
	if arch != runtime.GOARCH {
		local = "generic"
	}
	return toolchain.Target{Arch: arch, Flags: toolchain.CPU(arch, cmp.Or(getenv("DIGLOT_CPU"), local))}
}
