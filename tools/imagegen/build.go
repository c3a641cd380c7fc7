package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/diglot/diglot/engine/imagegen/sdcpp"
	"github.com/diglot/diglot/engine/local/memory"
)

//go:embed native/diglot.cpp
var native embed.FS

// builder builds a release in folder, which gets its name when it is complete.
type builder struct {
	release sdcpp.Release
	changes []change // to its sources
	folder  string
	jobs    int
	log     io.Writer

	// download downloads the source package into a folder and returns its path.
	download func(ctx context.Context, r sdcpp.Release, folder string) (string, error)
	// run runs a command.
	run func(ctx context.Context, log io.Writer, name string, args ...string) error
}

// The work folder has the package, its sources in source, and the build in build.
func (b builder) work(name string) string { return filepath.Join(b.folder+".part", name) }

func (b builder) build(ctx context.Context) error {
	if err := checkTools(exec.LookPath); err != nil {
		return err
	}
	if err := os.MkdirAll(b.folder+".part", 0o755); err != nil {
		return err
	}
	lock := flock.New(b.folder + ".lock")
	if locked, err := lock.TryLock(); err != nil || !locked {
		return fmt.Errorf("another build is running (lock %s): %w", lock.Path(), err)
	}
	defer lock.Unlock()
	start := time.Now()
	if err := b.steps(ctx); err != nil {
		return err
	}
	fmt.Fprintf(b.log, "imagegen: built in %s\n", time.Since(start).Round(time.Second))
	return os.RemoveAll(b.folder + ".part")
}

// steps takes up an interrupted build.
func (b builder) steps(ctx context.Context) error {
	for _, step := range []func(context.Context) error{b.fetch, b.unpack, b.compile, b.install} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// compile compiles the library, and sd-cli, which the tests compare it with.
func (b builder) compile(ctx context.Context) error {
	for _, c := range b.changes {
		if err := c.apply(b.work("source")); err != nil {
			return err
		}
	}
	source := filepath.Join(b.work("source"), "src", "diglot.cpp") // where the build takes every file
	text, err := native.ReadFile("native/diglot.cpp")
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte("@RELEASE@"), []byte(b.release.ID()))
	if had, err := os.ReadFile(source); err != nil || !bytes.Equal(had, text) { // or it would be compiled again
		if err := os.WriteFile(source, text, 0o644); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.log, "imagegen: compiling stable-diffusion.cpp for this processor with %d jobs; 20 to 40 minutes on two cores\n", b.jobs)
	if err := b.run(ctx, b.log, "cmake", append([]string{"-S", b.work("source"), "-B", b.work("build")}, configuration...)...); err != nil {
		return err
	}
	return b.run(ctx, b.log, "cmake", "--build", b.work("build"), "--parallel", strconv.Itoa(b.jobs), "--target", "stable-diffusion", "sd-cli")
}

// configuration leaves out what needs other libraries or a network.
var configuration = []string{
	"-G", "Ninja", "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release", "-DSD_BUILD_SHARED_LIBS=ON", "-DSD_BUILD_EXAMPLES=ON",
	"-DSD_WEBP=OFF", "-DSD_WEBM=OFF", "-DSD_SERVER_BUILD_FRONTEND=OFF",
	// Its threads spin beside ours; ggml's own pool is as fast.
	"-DGGML_OPENMP=OFF",
	// sd-cli finds the library beside it.
	"-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=" + origin(),
}

func origin() string {
	if runtime.GOOS == "darwin" {
		return "@loader_path"
	}
	return "$ORIGIN"
}

// install copies what is kept and gives the folder its name.
func (b builder) install(context.Context) error {
	kept := b.work("kept")
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	if err := os.Mkdir(kept, 0o755); err != nil {
		return err
	}
	for _, path := range []string{
		filepath.Join(b.work("build"), "bin", sdcpp.LibraryName()),
		filepath.Join(b.work("build"), "bin", "sd-cli"),
		filepath.Join(b.work("source"), "LICENSE"),
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(kept, filepath.Base(path)), data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return os.Rename(kept, b.folder)
}

// tools are the programs that a build needs; one of each row.
var tools = [][]string{{"cmake"}, {"ninja"}, {"c++", "g++", "clang++"}, {"cc", "gcc", "clang"}, {"python3"}}

// checkTools fails early and names all that is missing.
func checkTools(look func(string) (string, error)) error {
	var missing []string
	for _, names := range tools {
		found := false
		for _, name := range names {
			_, err := look(name)
			found = found || err == nil
		}
		if !found {
			missing = append(missing, strings.Join(names, " or "))
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("building the image engine needs %s, which this machine lacks "+
		"(Debian: apt-get install cmake ninja-build g++ python3-pip; Fedora: dnf install cmake ninja-build gcc-c++ python3-pip; "+
		"macOS: xcode-select --install, then brew install cmake ninja)", strings.Join(missing, ", "))
}

// jobMemory is what compiling the largest file takes, in bytes.
const jobMemory = 2500 << 20

// defaultJobs is one per core, as far as memory allows.
func defaultJobs() int {
	jobs := runtime.NumCPU()
	if free, err := memory.Available(); err == nil {
		jobs = min(jobs, int(free/jobMemory))
	}
	return max(jobs, 1)
}

// execute runs a command with its output in the log.
func execute(ctx context.Context, log io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
