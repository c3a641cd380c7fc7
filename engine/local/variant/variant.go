// Package variant knows for which processors a release is compiled.
//
// llama.cpp, and some kernels of ours, use the instructions that the compiler
// was allowed to use. A release has the program several times: its first variant
// runs on any processor of the architecture, and it starts the processes of
// models from the best one that the processor runs.
package variant

import (
	"path/filepath"
	"slices"
)

// Variant is the program compiled for an instruction set.
type Variant struct {
	Name  string
	Flags string   // of the compiler
	needs []string // instructions, as [Processor] names them
}

// Of returns the variants for an operating system and an architecture, as Go names
// them, the best first. The last one runs everywhere. It returns none for a platform
// that has no release.
func Of(system, arch string) []Variant {
	switch system + "/" + arch {
	case "linux/amd64":
		return amd64()
	case "linux/arm64":
		return arm64()
	case "darwin/arm64":
		return []Variant{{"apple-m1", "-mcpu=apple-m1", nil}} // the first Mac of this architecture
	}
	return nil
}

// amd64 has the levels of x86-64's System V ABI, whose fourth has no instructions for
// products of bytes.
func amd64() []Variant {
	level2 := []string{"cx16", "lahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"}
	level3 := slices.Concat(level2, []string{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"})
	level4 := slices.Concat(level3, []string{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
	return []Variant{
		{"x86-64-v4-vnni", "-march=x86-64-v4 -mavx512vnni", slices.Concat(level4, []string{"avx512vnni"})},
		{"x86-64-v3", "-march=x86-64-v3", level3},
		{"x86-64-v2", "-march=x86-64-v2", level2},
		{"x86-64", "-march=x86-64", nil},
	}
}

func arm64() []Variant {
	dotprod := []string{"asimddp", "asimdhp", "asimdrdm", "atomics", "crc32", "fphp"}
	return []Variant{
		{"armv8.2-i8mm", "-march=armv8.2-a+dotprod+fp16+i8mm", slices.Concat(dotprod, []string{"i8mm"})},
		{"armv8.2-dotprod", "-march=armv8.2-a+dotprod+fp16", dotprod},
		{"armv8", "-march=armv8-a", nil},
	}
}

// Path is where a release has a variant, beside the program that runs everywhere:
// bin/diglot and lib/diglot/NAME/diglot.
func Path(program, name string) string {
	return filepath.Join(filepath.Dir(filepath.Dir(program)), "lib", "diglot", name, "diglot")
}

// RunsOn reports whether a processor has all instructions that the variant needs.
func (v Variant) RunsOn(p Processor) bool { return len(v.Missing(p)) == 0 }

// Missing are the instructions of the variant that a processor lacks.
func (v Variant) Missing(p Processor) []string {
	var all []string
	for _, name := range v.needs {
		if !p[name] {
			all = append(all, name)
		}
	}
	return all
}

// Best returns the first variant that a processor runs.
func Best(all []Variant, p Processor) Variant {
	return all[slices.IndexFunc(all, func(v Variant) bool { return v.RunsOn(p) })]
}
