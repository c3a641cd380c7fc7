package main

import (
	"fmt"
	"strings"

	"github.com/diglot/diglot/tools/internal/toolchain"
)

// platform is what an archive is for, as Go names it.
type platform struct{ system, arch string }

func (p platform) String() string { return p.system + "/" + p.arch }

// platforms are those that have archives.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}}

// parsePlatforms returns the named platforms; without names, all.
func parsePlatforms(names []string) ([]platform, error) {
	if len(names) == 0 {
		return platforms, nil
	}
	var all []platform
	for _, name := range names {
		p, err := parsePlatform(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func parsePlatform(name string) (platform, error) {
	var known []string
	for _, p := range platforms {
		if p.String() == name {
			return p, nil
		}
		known = append(known, p.String())
	}
	return platform{}, fmt.Errorf("%q is no platform with a release; there are %s", name, strings.Join(known, ", "))
}

// cannotBuild is the reason why a machine cannot build for the platform, or nil.
func (p platform) cannotBuild(system, arch string) error {
	switch {
	case p.system == "darwin" && system != "darwin":
		return fmt.Errorf("%s is built on a Mac alone: it needs Apple's compiler and libraries; run this there", p)
	case p.system != system:
		return fmt.Errorf("%s is built on Linux alone", p)
	}
	if err := (toolchain.Target{Arch: p.arch}).FindCompiler(); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}
