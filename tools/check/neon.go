package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"runtime"
)

// neonTests compute with the kernels of arm64.
var neonTests = []packageTests{
	{tags: "llamacpp", packages: []string{"./engine/local/llamacpp/matrix"}},
	{tags: "llamacpp", run: "^Test(Attention|DescribeKernels)$", packages: []string{"./engine/local/llamacpp"}},
}

// neon runs the tests of the kernels for arm64 on another processor, if a compiler
// and an emulator for it are installed. On arm64 they are in the step llama.
func neon(ctx context.Context, out io.Writer) (tally, error) {
	if runtime.GOARCH == "arm64" {
		return tally{}, nil
	}
	for _, name := range []string{"aarch64-linux-gnu-g++", "qemu-aarch64"} {
		if _, err := exec.LookPath(name); err != nil {
			fmt.Fprintln(out, note+"no "+name+" in PATH; the kernels for arm64 were not tested (Debian: apt-get install g++-aarch64-linux-gnu qemu-user)")
			return tally{}, nil
		}
	}
	// With -vet=off: vet runs in the step vetllama.
	return countAll(ctx, out, []string{"DIGLOT_ARCH=arm64"}, []string{
		"go", "run", "./tools/build", "go", "test", "-json", "-vet=off", "-exec", "qemu-aarch64 -L /usr/aarch64-linux-gnu",
	}, neonTests)
}
