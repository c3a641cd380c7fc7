package variant

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// having makes a processor with these instructions.
func having(names string) Processor {
	p := Processor{}
	for _, name := range strings.Fields(names) {
		p[name] = true
	}
	return p
}

func TestBest(t *testing.T) {
	const (
		nehalem  = "sse3 ssse3 sse4.1 sse4.2 popcnt cx16 lahf "
		haswell  = nehalem + "avx avx2 bmi1 bmi2 f16c fma lzcnt movbe "
		skylakeX = haswell + "avx512f avx512bw avx512cd avx512dq avx512vl "
		cortex   = "asimddp asimdhp asimdrdm atomics crc32 fphp "
	)
	for _, tt := range []struct{ name, platform, has, want string }{
		{"the first of the architecture", "linux/amd64", "", "x86-64"},
		{"the default of an emulator", "linux/amd64", "sse3 cx16 lahf", "x86-64"},
		{"before AVX", "linux/amd64", nehalem, "x86-64-v2"},
		{"AVX alone", "linux/amd64", nehalem + "avx", "x86-64-v2"},
		{"AVX2", "linux/amd64", haswell, "x86-64-v3"},
		{"AVX2 with its registers not saved", "linux/amd64", strings.NewReplacer("avx2 ", "", "avx ", "").Replace(haswell), "x86-64-v2"},
		{"a virtual machine that hides F16C", "linux/amd64", strings.Replace(haswell, "f16c ", "", 1), "x86-64-v2"},
		{"AVX-512 without VNNI", "linux/amd64", skylakeX, "x86-64-v3"},
		{"AVX-512 with VNNI", "linux/amd64", skylakeX + "avx512vnni", "x86-64-v4-vnni"},
		{"VNNI without vectors of 256 bits", "linux/amd64", strings.Replace(skylakeX, "avx512vl ", "", 1) + "avx512vnni", "x86-64-v3"},
		{"arm64 of 2012", "linux/arm64", "crc32", "armv8"},
		{"arm64 with products of bytes", "linux/arm64", cortex, "armv8.2-dotprod"},
		{"arm64 without half precision", "linux/arm64", strings.Replace(cortex, "asimdhp ", "", 1), "armv8"},
		{"arm64 with products of matrices", "linux/arm64", cortex + "i8mm", "armv8.2-i8mm"},
		{"any Mac", "darwin/arm64", "", "apple-m1"},
	} {
		system, arch, _ := strings.Cut(tt.platform, "/")
		if got := Best(Of(system, arch), having(tt.has)); got.Name != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.Name, tt.want)
		}
	}
}

// TestNeedsAreKnown: an instruction whose name nobody fills in would rule a variant
// out on every processor.
func TestNeedsAreKnown(t *testing.T) {
	known := ThisProcessor()
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		system, arch, _ := strings.Cut(platform, "/")
		all := Of(system, arch)
		for i, v := range all {
			for _, name := range v.needs {
				if _, ok := known[name]; !ok {
					t.Errorf("%s of %s needs %q, which no processor has", v.Name, platform, name)
				}
			}
			if last := i == len(all)-1; last != (len(v.needs) == 0) {
				t.Errorf("%s of %s: needs %q, and it is the last: %v", v.Name, platform, v.needs, last)
			}
		}
	}
	if all := Of("plan9", "amd64"); all != nil {
		t.Errorf("a platform without a release has %v", all)
	}
}

// instructions are the compiler's macros for what a processor may be asked to do,
// and for what it has anyway.
var instructions = map[string]string{
	"__AVX__": "avx", "__AVX2__": "avx2", "__AVX512BW__": "avx512bw", "__AVX512CD__": "avx512cd", "__AVX512DQ__": "avx512dq",
	"__AVX512F__": "avx512f", "__AVX512VL__": "avx512vl", "__AVX512VNNI__": "avx512vnni", "__BMI__": "bmi1", "__BMI2__": "bmi2",
	"__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16": "cx16", "__F16C__": "f16c", "__FMA__": "fma", "__LAHF_SAHF__": "lahf", "__LZCNT__": "lzcnt",
	"__MOVBE__": "movbe", "__POPCNT__": "popcnt", "__SSE3__": "sse3", "__SSE4_1__": "sse4.1", "__SSE4_2__": "sse4.2", "__SSSE3__": "ssse3",
	"__ARM_FEATURE_DOTPROD": "asimddp", "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC": "asimdhp", "__ARM_FEATURE_FP16_SCALAR_ARITHMETIC": "fphp",
	"__ARM_FEATURE_QRDMX": "asimdrdm", "__ARM_FEATURE_ATOMICS": "atomics", "__ARM_FEATURE_CRC32": "crc32", "__ARM_FEATURE_MATMUL_INT8": "i8mm",
}

// TestNeedsAreAllThatTheCompilerUses asks GCC which instructions the flags of a
// variant add to those of the last one.
func TestNeedsAreAllThatTheCompilerUses(t *testing.T) {
	for arch, compiler := range map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Logf("no %s: the flags for %s were not checked", compiler, arch)
			continue
		}
		all := Of("linux", arch)
		anyway := macros(t, compiler, all[len(all)-1].Flags)
		for _, v := range all {
			for name := range macros(t, compiler, v.Flags) {
				has, known := instructions[name]
				switch {
				case anyway[name]:
				case !known:
					t.Errorf("%s: %s is set, and no instruction is known for it", v.Name, name)
				case !slices.Contains(v.needs, has):
					t.Errorf("%s: %s is set, and %s is not asked for", v.Name, name, has)
				}
			}
		}
	}
}

// macros are those of a compiler that name instructions.
func macros(t *testing.T, compiler, flags string) map[string]bool {
	t.Helper()
	args := append(strings.Fields(flags), "-dM", "-E", "-x", "c", os.DevNull)
	out, err := exec.CommandContext(t.Context(), compiler, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name := strings.Fields(line)[1]
		for _, begin := range []string{"__AVX", "__BMI", "__F16", "__FMA", "__GCC_HAVE_SYNC", "__LAHF", "__LZCNT", "__MOVBE", "__POPCNT", "__SSE", "__SSSE", "__ARM_FEATURE"} {
			if strings.HasPrefix(name, begin) {
				set[name] = true
			}
		}
	}
	return set
}

func ExamplePath() {
	fmt.Println(filepath.ToSlash(Path(filepath.FromSlash("/usr/local/bin/diglot"), "x86-64-v3")))
	// Output: /usr/local/lib/diglot/x86-64-v3/diglot
}
