package variant

import "golang.org/x/sys/cpu"

// Processor has the instructions that a processor runs.
type Processor map[string]bool

// ThisProcessor is the one that the program runs on. Those of AVX and AVX-512 are in
// it if the operating system saves their registers, too.
func ThisProcessor() Processor {
	x, a := &cpu.X86, &cpu.ARM64 // on another architecture they have nothing
	return Processor{
		"avx":        x.HasAVX,
		"avx2":       x.HasAVX2,
		"avx512bw":   x.HasAVX512BW,
		"avx512cd":   x.HasAVX512CD,
		"avx512dq":   x.HasAVX512DQ,
		"avx512f":    x.HasAVX512F,
		"avx512vl":   x.HasAVX512VL,
		"avx512vnni": x.HasAVX512VNNI,
		"bmi1":       x.HasBMI1,
		"bmi2":       x.HasBMI2,
		"cx16":       x.HasCX16,
		"f16c":       x.HasF16C,
		"fma":        x.HasFMA,
		"lahf":       x.HasLAHF,
		"lzcnt":      x.HasLZCNT,
		"movbe":      x.HasMOVBE,
		"popcnt":     x.HasPOPCNT,
		"sse3":       x.HasSSE3,
		"sse4.1":     x.HasSSE41,
		"sse4.2":     x.HasSSE42,
		"ssse3":      x.HasSSSE3,

		"asimddp":  a.HasASIMDDP,
		"asimdhp":  a.HasASIMDHP,
		"asimdrdm": a.HasASIMDRDM,
		"atomics":  a.HasATOMICS,
		"crc32":    a.HasCRC32,
		"fphp":     a.HasFPHP,
		"i8mm":     a.HasI8MM,
	}
}
