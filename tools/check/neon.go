package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// neonTests compute with the kernels of arm64.
var neonTests = []packageTests{
	{tags: "llamacpp", packages: []string{"./engine/local/llamacpp/matrix"}},
	{tags: "llamacpp", run: "^Test(Attention|DescribeKernels)$", packages: []string{"./engine/local/llamacpp"}},
}

// neon runs the tests of the kernels for arm64 on another processor, if a compiler
// and an emulator for it are installed. On arm64 they are in the step llama. go test
// caches no results of an emulator; what passed with the same program is not repeated.
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
	env := []string{"DIGLOT_ARCH=arm64"}
	var total tally
	for i, tests := range neonTests {
		program := filepath.Join(".cache", "neon", strconv.Itoa(i)+".test")
		// Without vet, which the step vetllama runs.
		if err := execute(ctx, out, env, "go", "run", "./tools/build", "go", "test", "-c", "-vet=off", "-tags", tests.tags, "-o", program, tests.packages[0]); err != nil {
			return total, err
		}
		known, err := passedBefore([]string{program}, tests.run)
		if err != nil {
			return total, err
		}
		count, ok := known.load()
		if !ok {
			if count, err = countAll(ctx, out, env, []string{
				"go", "run", "./tools/build", "go", "test", "-json", "-vet=off", "-exec", "qemu-aarch64 -L /usr/aarch64-linux-gnu",
			}, neonTests[i:i+1]); err != nil {
				return total, err
			}
			if err := known.store(count); err != nil {
				return total, err
			}
		}
		total.add(count)
	}
	return total, nil
}
