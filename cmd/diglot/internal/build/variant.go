package build

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// releaseTag begins the build tag that names the variant of a release.
const releaseTag = "release."

// Variant is the variant of a release that a program is, as package variant names
// them; empty: it is no release, but compiled for the machine that runs it.
func Variant(info *debug.BuildInfo) string {
	for tag := range strings.SplitSeq(Setting(info, "-tags"), ",") {
		if name, ok := strings.CutPrefix(tag, releaseTag); ok {
			return name
		}
	}
	return ""
}

// CheckVariant reports why the file at path cannot run as a variant of the program
// own: it must be executable, whole, made from the same sources, and of the same user.
func CheckVariant(path, name, own string, ownInfo *debug.BuildInfo) error {
	if err := checkOwners(path, filepath.Dir(filepath.Dir(own)), own); err != nil {
		return unwrapped(err)
	}
	if _, err := exec.LookPath(path); err != nil {
		return unwrapped(err)
	}
	other, err := buildinfo.ReadFile(path)
	if err != nil {
		return unwrapped(err)
	}
	if got := Variant(other); got != name {
		return fmt.Errorf("it is the variant %q", got)
	}
	for _, key := range []string{"vcs.revision", "vcs.modified", "GOOS", "GOARCH"} {
		if was, is := Setting(other, key), Setting(ownInfo, key); was != is {
			return fmt.Errorf("it is of another build: %s is %q, not %q", key, was, is)
		}
	}
	if other.Main.Version != ownInfo.Main.Version || other.GoVersion != ownInfo.GoVersion {
		return fmt.Errorf("it is of version %s, built with %s", other.Main.Version, other.GoVersion)
	}
	return nil
}

// unwrapped is an error without the path, which the caller knows.
func unwrapped(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
