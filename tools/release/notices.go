package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// heading introduces the notices.
const heading = `diglot contains the software below, each under its own licence. Programs for Linux also
contain the C++ library of GCC, under the GCC Runtime Library Exception.
`

// thirdParties returns the licences of everything that is linked into a program that
// is compiled in env.
func thirdParties(ctx context.Context, env []string) ([]byte, error) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}	{{.Dir}}	{{$.Dir}}{{end}}{{end}}`
	list, err := execute(ctx, env, os.Stderr, "go", "list", "-deps", "-tags", "llamacpp", "-f", format, "./cmd/diglot")
	if err != nil {
		return nil, err
	}
	root, err := execute(ctx, env, os.Stderr, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	root = strings.TrimSpace(root)
	lines := append(strings.Split(strings.TrimSpace(list), "\n"), "Go\t"+root+"\t"+root)
	return notices(lines)
}

// notices has the licences of packages, each a line of its module's name, its
// module's folder and its own.
func notices(lines []string) ([]byte, error) {
	found := map[string][]string{} // files by module
	for _, line := range lines {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("go list wrote %q", line)
		}
		files, err := licences(fields[1], fields[2])
		if err != nil {
			return nil, err
		}
		found[fields[0]] = append(found[fields[0]], files...)
	}
	text := bytes.NewBufferString(heading)
	for _, module := range slices.Sorted(maps.Keys(found)) {
		files := found[module]
		if len(files) == 0 {
			return nil, fmt.Errorf("%s has no licence in its folder", module)
		}
		slices.Sort(files)
		var written []string // some have the same text in several folders
		for _, name := range slices.Compact(files) {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			if slices.Contains(written, string(data)) {
				continue
			}
			written = append(written, string(data))
			fmt.Fprintf(text, "\n%s\n%s, %s\n\n%s\n", strings.Repeat("-", 72), module, filepath.Base(name), bytes.TrimSpace(data))
		}
	}
	return text.Bytes(), nil
}

// licences are the files with licences of a package: in its folder, and in those
// above up to the module's.
func licences(module, folder string) ([]string, error) {
	var all []string
	for {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() && isLicence(e.Name()) {
				all = append(all, filepath.Join(folder, e.Name()))
			}
		}
		if folder == module {
			return all, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return nil, errors.New(folder + " is not in " + module)
		}
		folder = above
	}
}

// isLicence reports whether a file of that name has a licence or a notice that goes
// with it.
func isLicence(name string) bool {
	if strings.HasSuffix(name, ".go") {
		return false
	}
	name, _, _ = strings.Cut(strings.ToUpper(name), ".")
	name, _, _ = strings.Cut(name, "-")
	return slices.Contains([]string{"LICENSE", "LICENCE", "UNLICENSE", "COPYING", "NOTICE", "PATENTS", "COPYRIGHT"}, name)
}
