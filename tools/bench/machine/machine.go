// Package machine says what a computer can do, and what processes take of it.
//
// What it can do is measured by a program in C, since the registers of vectors are out of
// reach in Go: native/loops.c, compiled for this processor when it is needed. It reads a
// buffer of the size of a model, as generating a token does, and multiplies in registers
// alone. A share of these figures is what a server makes of the machine, whatever the
// machine is.
package machine

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

//go:embed native/loops.c
var loops []byte

// Figure is what the machine does in a second, and by which instructions.
type Figure struct {
	PerSecond    float64 `json:"per_second"`
	Instructions string  `json:"instructions"`
}

// Ceilings are the most that this machine does with a number of threads. What it has no
// instructions for is zero.
type Ceilings struct {
	Threads int              `json:"threads"`
	Float   Figure           `json:"float_multiplications"`
	Int8    Figure           `json:"int8_multiplications"`
	Tiles   Figure           `json:"int8_multiplications_in_tiles,omitzero"` // of AMX
	Read    map[int64]Figure `json:"bytes_read"`                             // by the size of the buffer
}

// ErrNoCompiler means that ceilings cannot be measured.
var ErrNoCompiler = errors.New("no C compiler")

// Measure takes some seconds. The machine should be idle.
func Measure(ctx context.Context, threads int, sizes []int64) (Ceilings, error) {
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if _, err := exec.LookPath(strings.Fields(compiler)[0]); err != nil {
		return Ceilings{}, fmt.Errorf("%w: %w", ErrNoCompiler, err)
	}
	folder, err := os.MkdirTemp("", "machine-")
	if err != nil {
		return Ceilings{}, err
	}
	defer os.RemoveAll(folder)
	source, program := filepath.Join(folder, "loops.c"), filepath.Join(folder, "loops")
	if err := os.WriteFile(source, loops, 0o600); err != nil {
		return Ceilings{}, err
	}
	target := "-march=native"
	if runtime.GOARCH == "arm64" {
		target = "-mcpu=native"
	}
	args := append(strings.Fields(compiler), "-O3", target, "-pthread", "-o", program, source)
	if said, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return Ceilings{}, fmt.Errorf("compiling the loops: %w\n%s", err, said)
	}
	args = []string{strconv.Itoa(threads)}
	for _, size := range sizes {
		args = append(args, strconv.FormatInt(size, 10))
	}
	said, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return Ceilings{}, fmt.Errorf("the loops: %w", err)
	}
	return parse(threads, string(said))
}

// parse reads what the program printed.
func parse(threads int, said string) (Ceilings, error) {
	c := Ceilings{Threads: threads, Read: map[int64]Figure{}}
	lines := bufio.NewScanner(strings.NewReader(said))
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 3)
		if len(fields) != 3 {
			return c, fmt.Errorf("the loops printed %q", lines.Text())
		}
		rate, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return c, fmt.Errorf("the loops printed %q: %w", lines.Text(), err)
		}
		figure := Figure{rate, fields[2]}
		name, size, _ := strings.Cut(fields[0], ":")
		switch name {
		case "float":
			c.Float = figure
		case "int8":
			c.Int8 = figure
		case "tiles":
			c.Tiles = figure
		case "read":
			bytes, err := strconv.ParseInt(size, 10, 64)
			if err != nil {
				return c, fmt.Errorf("the loops printed %q: %w", lines.Text(), err)
			}
			c.Read[bytes] = figure
		}
	}
	return c, nil
}
