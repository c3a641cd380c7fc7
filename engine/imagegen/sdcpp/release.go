package sdcpp

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Release is what the library is built from: a source package, and our changes.
type Release struct {
	Package   string // of the Python package index
	Version   string
	SHA256    string // of the package
	Interface int    // version of tools/imagegen/native and of the changes to the sources
}

// Pinned is the release that this package is written for.
func Pinned() Release {
	return Release{
		Package:   "stable-diffusion-cpp-python",
		Version:   "0.4.7",
		SHA256:    "998d1957260dd5ae4e18a8acc0c14b0a8757aaa9f96515197b6d5bbf46df9282",
		Interface: 2,
	}
}

// ID tells releases apart. A library reports the one that it was built from.
func (r Release) ID() string {
	return r.Version + "-" + r.SHA256[:12] + "-" + strconv.Itoa(r.Interface)
}

// Folder is where a library built for this machine's processor lies below the
// user's cache folder.
func (r Release) Folder(cache string) string {
	return filepath.Join(cache, "diglot", "imagegen", r.ID()+"-"+processor())
}

// LibraryName is the name of the library's file.
func LibraryName() string {
	if runtime.GOOS == "darwin" {
		return "libstable-diffusion.dylib"
	}
	return "libstable-diffusion.so"
}

// processor names the instructions that a compiler uses for this processor. A home
// directory may be shared by machines with different ones.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	return runtime.GOARCH + "-" + hash(instructions(string(info)))
}

func hash(words []string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, " ")))
	return hex.EncodeToString(sum[:])[:8]
}

// vectorInstructions begin the names in /proc/cpuinfo that matter; the kernel adds
// others from one version to the next.
var vectorInstructions = []string{"avx", "amx", "fma", "f16c", "bmi", "sse4", "ssse3", "asimd", "sve", "sme", "i8mm", "bf16", "fphp"}

// instructions are those of the first processor, sorted.
func instructions(cpuinfo string) []string {
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if key = strings.TrimSpace(key); key != "flags" && key != "Features" {
			continue
		}
		words := slices.DeleteFunc(strings.Fields(value), func(w string) bool {
			return !slices.ContainsFunc(vectorInstructions, func(v string) bool { return strings.HasPrefix(w, v) })
		})
		slices.Sort(words)
		return words
	}
	return nil
}
