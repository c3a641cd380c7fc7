package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// header is a system header that llama.cpp includes and its Go package lacks.
type header struct {
	include string
	debian  string // package that has it
}

var headers = []header{
	{include: "nlohmann/json.hpp", debian: "nlohmann-json3-dev"},
	{include: "stb/stb_image.h", debian: "libstb-dev"},
}

// elsewhere names the packages on systems where we install nothing.
const elsewhere = `  Debian, Ubuntu: apt-get install nlohmann-json3-dev libstb-dev
  Fedora:         dnf install json-devel stb-devel
  Arch:           pacman -S nlohmann-json stb
  Alpine:         apk add nlohmann-json stb
  Homebrew:       brew install nlohmann-json stb`

// installHeaders asks the compiler for each header and installs what is
// missing where apt-get can; elsewhere the error names the packages.
func installHeaders(ctx context.Context, env []string) error {
	compiler, err := findCompiler()
	if err != nil {
		return err
	}
	missing := missingHeaders(ctx, compiler, env)
	if len(missing) == 0 {
		return nil
	}
	if err := aptInstall(ctx, missing); err != nil {
		return err
	}
	if left := missingHeaders(ctx, compiler, env); len(left) > 0 {
		return fmt.Errorf("%s still finds no %s", compiler, left[0].include)
	}
	return nil
}

func findCompiler() (string, error) {
	candidates := []string{"g++", "clang++", "c++"}
	if own := os.Getenv("CXX"); own != "" {
		candidates = []string{own}
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no C++ compiler (looked for %s); on Debian: apt-get install g++", strings.Join(candidates, ", "))
}

func missingHeaders(ctx context.Context, compiler string, env []string) []header {
	var missing []header
	for _, h := range headers {
		if !compiles(ctx, compiler, env, h.include) {
			missing = append(missing, h)
		}
	}
	return missing
}

// compiles runs the preprocessor alone, with the flags that the build uses.
func compiles(ctx context.Context, compiler string, env []string, include string) bool {
	args := []string{"-x", "c++", "-E", "-"}
	for _, e := range env {
		if flags, ok := strings.CutPrefix(e, "CGO_CPPFLAGS="); ok {
			args = append(args, strings.Fields(flags)...)
		}
	}
	cmd := exec.CommandContext(ctx, compiler, args...)
	cmd.Stdin = strings.NewReader("#include <" + include + ">\n")
	return cmd.Run() == nil
}

// aptInstall installs the packages of missing, as root or through sudo, and
// prints each command before it runs.
func aptInstall(ctx context.Context, missing []header) error {
	var includes, packages []string
	for _, h := range missing {
		includes = append(includes, h.include)
		packages = append(packages, h.debian)
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("missing headers: %s. They are in these packages:\n%s", strings.Join(includes, ", "), elsewhere)
	}
	prefix, err := privilege()
	if err != nil {
		return fmt.Errorf("missing headers: %s; %w. Please run: apt-get install %s",
			strings.Join(includes, ", "), err, strings.Join(packages, " "))
	}
	fmt.Fprintf(os.Stderr, "build: llama.cpp needs the headers %s; installing them\n", strings.Join(includes, ", "))
	for _, step := range [][]string{
		{"apt-get", "update", "-q"}, // a fresh machine has no package lists yet
		append([]string{"apt-get", "install", "-y", "-q", "--no-install-recommends"}, packages...),
	} {
		step = append(prefix[:len(prefix):len(prefix)], step...)
		fmt.Fprintln(os.Stderr, "+", strings.Join(step, " "))
		cmd := exec.CommandContext(ctx, step[0], step[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(step, " "), err)
		}
	}
	return nil
}

// privilege is what to put before a command that only root may run.
func privilege() ([]string, error) {
	if os.Geteuid() == 0 {
		return nil, nil
	}
	sudo, err := exec.LookPath("sudo")
	if err != nil {
		return nil, errors.New("installing them needs root or sudo")
	}
	return []string{sudo}, nil
}
