//go:build llamacpp && cgo

package matrix

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

// formats are those with kernels, as ggml names them: q4_K for Q4_K.
func formats() []string {
	var all []string
	for _, name := range Formats() {
		all = append(all, strings.Replace(strings.ToLower(name), "_k", "_K", 1))
	}
	return all
}

// sets are all instruction sets, those first that are used before others.
var sets = []string{"AMX", "AVX-512 VNNI", "AVX-VNNI", "AVX2", "NEON i8mm", "NEON dotprod"}

// instructionSets are those that this processor has, and the plain form.
func instructionSets() []string {
	var all []string
	for _, name := range append(slices.Clone(sets), "plain") {
		if use(name) {
			all = append(all, name)
		}
	}
	use("")
	return all
}

// register does so also on a processor that has no instruction set of these.
func register() {
	use("plain")
	Register()
	use("")
}

// TestInstructions: the best set that the processor has is used, or none. The tests
// in an emulator, for which tools/build compiles, prove nothing of kernels that do
// not run there.
func TestInstructions(t *testing.T) {
	defer use("")
	all := instructionSets()
	want := all[0]
	if want == "plain" {
		want = ""
	}
	if got := Instructions(); got != want {
		t.Errorf("of %q %q is used", all, got)
	}
	if !use("plain") || Instructions() != "plain" {
		t.Errorf("the plain form is not used, but %q", Instructions())
	}
	if use("SSE") || Instructions() != want {
		t.Errorf("of %q %q is used when another was asked for", all, Instructions())
	}
	if arch := os.Getenv("DIGLOT_ARCH"); arch == "arm64" && (!slices.Contains(all, "NEON dotprod") || !slices.Contains(all, "NEON i8mm")) {
		t.Errorf("for %s there are only %q", arch, all)
	}
}

// TestInstructionsFor: kernels of one set have its name, for all types; those for AMX
// leave some to others.
func TestInstructionsFor(t *testing.T) {
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range Formats() {
			want := set
			switch {
			case set == "AMX" && (format == "Q6_K" || format == "F32"):
				want = "AVX-512 VNNI"
			case set == "AMX" && format != "F16" && format != "BF16":
				want = "AMX and AVX-512 VNNI"
			}
			if got := InstructionsFor(format, 512); got != want {
				t.Errorf("%s of %s: %q, want %q", format, set, got, want)
			}
			if got := InstructionsFor(format, 500); got != "" {
				t.Errorf("%s of %s, with 500 columns: %q", format, set, got)
			}
		}
		if got := InstructionsFor("Q3_K", 512); got != "" {
			t.Errorf("Q3_K of %s: %q", set, got)
		}
	}
}

func allValues() map[string]values {
	return map[string]values{"usual": usual, "zeros": zeros, "subnormal": subnormal, "subnormal scales": smallScales, "largest": largest, "a row of NaN": nanRow, "a token with NaN": nanToken}
}

// most is how far a sum of single precision may be from one of double precision,
// relative to the sum of absolute products.
const most = 2e-5

// TestProducts: products of each format, by each instruction set, at sizes
// around those of panels and tiles, with random and hostile values.
func TestProducts(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range formats() {
			for name, v := range allValues() {
				for _, tokens := range []int{1, 2, 3, 7} {
					p := product{format: format, width: 512, rows: 70, tokens: tokens, threads: 2, values: v}
					if got := p.difference(); !(got >= 0 && got <= most) {
						t.Errorf("%s, %s, %s, %d tokens: differs by %g", set, format, name, tokens, got)
					}
				}
			}
		}
	}
}

// TestSizes: each size modulo that of a panel and around a tile of tokens.
func TestSizes(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range formats() {
			for rows := 1; rows <= 33; rows++ {
				p := product{format: format, width: 256, rows: rows, tokens: 1 + rows%5, threads: 1 + rows%3}
				if got := p.difference(); !(got >= 0 && got <= most) {
					t.Errorf("%s, %+v: differs by %g", set, p, got)
				}
			}
			for _, tokens := range []int{4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 127, 128, 129, 257} {
				p := product{format: format, width: 256, rows: 33, tokens: tokens, threads: threadsOf(tokens)}
				if got := p.difference(); !(got >= 0 && got <= most) {
					t.Errorf("%s, %+v: differs by %g", set, p, got)
				}
			}
		}
	}
}

// TestWidths: blocks of 32 columns need no more than one of them.
func TestWidths(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range formats() {
			if strings.HasSuffix(format, "_K") || format == "iq4_xs" { // blocks of 256
				continue
			}
			for _, width := range []int{32, 64, 96, 576} {
				p := product{format: format, width: width, rows: 40, tokens: 5, threads: 2}
				if got := p.difference(); !(got >= 0 && got <= most) {
					t.Errorf("%s, %+v: differs by %g", set, p, got)
				}
			}
		}
	}
}

// threadsOf are one for many tokens: the tests wait less when cores are short.
func threadsOf(tokens int) int {
	if tokens > 8 {
		return 1
	}
	return 2
}

// TestTokensAlone: what a token gets does not depend on the tokens beside it, to
// the last bit.
func TestTokensAlone(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range formats() {
			for _, p := range []product{
				{tokens: 2}, {tokens: 3}, {tokens: 9}, {tokens: 17}, {tokens: 47}, {tokens: 130},
				{tokens: 3, values: zeros}, {tokens: 3, values: subnormal}, {tokens: 3, values: smallScales}, {tokens: 3, values: largest},
				{tokens: 3, experts: 4, used: 2}, {tokens: 40, experts: 4, used: 2},
			} {
				p.format, p.width, p.rows, p.threads = format, 512, 70, threadsOf(p.tokens)
				if got := p.dependences(); got != 0 {
					t.Errorf("%s, %+v: %d results have other bits", set, p, got)
				}
			}
		}
	}
}

// TestIntegers: fp16 by integers is no further off than by ggml's kernels, which round
// activations to fp16; the sizes are around those of units, panels and groups of tokens.
func TestIntegers(t *testing.T) {
	const rounding = 1e-6 // of single precision, which other sets multiply in, and ggml on some processors
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, p := range []product{
			{width: 32, rows: 40, tokens: 5}, {width: 64, rows: 40, tokens: 5}, {width: 96, rows: 33, tokens: 9},
			{width: 384, rows: 1, tokens: 13}, {width: 384, rows: 70, tokens: 1}, {width: 384, rows: 70, tokens: 2}, {width: 1536, rows: 384, tokens: 31},
			{width: 512, rows: 70, tokens: 129}, {width: 512, rows: 70, tokens: 7, values: zeros}, {width: 512, rows: 70, tokens: 7, values: nanRow},
			{width: 256, rows: 40, tokens: 150, experts: 4, used: 3},
		} {
			p.format, p.threads, p.integers = "f16", 2, true
			other := p
			other.ggml = true
			if got, want := p.difference(), other.difference(); !(got >= 0 && got <= max(want, rounding)) {
				t.Errorf("%s, %+v: differs by %g, ggml's by %g", set, p, got, want)
			}
		}
	}
}

// TestIntegersOfAll: hostile values by integers.
func TestIntegersOfAll(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for name, v := range allValues() {
			for _, tokens := range []int{1, 2, 3, 7, 13} {
				p := product{format: "f16", width: 512, rows: 70, tokens: tokens, threads: 2, integers: true, values: v}
				if got := p.difference(); !(got >= 0 && got <= 3e-5) {
					t.Errorf("%s, %s, %d tokens: differs by %g", set, name, tokens, got)
				}
				if got := p.dependences(); got != 0 && v != nanRow && v != nanToken {
					t.Errorf("%s, %s, %d tokens: %d results have other bits", set, name, tokens, got)
				}
			}
			p := product{format: "f16", width: 256, rows: 500, tokens: 9, threads: 3, integers: true, values: v}
			if got := p.partDifferences(); got != 0 && v != nanRow && v != nanToken {
				t.Errorf("%s, %s: %d results of some rows have other bits", set, name, got)
			}
		}
	}
}

// TestRowsWanted: some rows of the output layer, of some tokens, have the bits that they
// have with all rows.
func TestRowsWanted(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range formats() {
			for _, rows := range []int{1, 70, 500} {
				for _, tokens := range []int{1, 2, 3, 9, 200} {
					p := product{format: format, width: 256, rows: rows, tokens: tokens, threads: 1 + (rows+tokens)%3}
					if got := p.partDifferences(); got != 0 {
						t.Errorf("%s, %+v: %d results have other bits", set, p, got)
					}
				}
			}
		}
	}
}

// TestExperts: tokens that choose some of several matrices each.
func TestExperts(t *testing.T) {
	register()
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for _, format := range formats() {
			for _, p := range []product{
				{tokens: 1, experts: 4, used: 3}, {tokens: 1, experts: 9, used: 3},
				{tokens: 3, experts: 1, used: 1}, {tokens: 3, experts: 9, used: 3}, {tokens: 3, experts: 9, used: 3, values: nanRow},
				{tokens: 150, experts: 1, used: 1}, {tokens: 150, experts: 4, used: 3},
			} {
				p.format, p.width, p.rows, p.threads = format, 256, 40, 2
				for _, p.own = range []bool{false, true} {
					if got := p.difference(); !(got >= 0 && got <= most) {
						t.Errorf("%s, %+v: differs by %g", set, p, got)
					}
				}
			}
		}
	}
}

// TestLookups: a row that is looked up is the row of the file, as it lies in a panel
// and as ggml looks it up. NaN in a row that is not asked for changes nothing.
func TestLookups(t *testing.T) {
	register()
	for _, format := range formats() {
		for name, v := range allValues() {
			p := product{format: format, width: 512, rows: 70, tokens: 40, threads: 2, values: v}
			if got := p.lookupDifference(); !(got >= 0 && got <= 1e-6) {
				t.Errorf("%s, %s: differs by %g", format, name, got)
			}
			if got := p.rowDifference(); !(got >= 0 && got <= 1e-6) {
				t.Errorf("%s, %s: looked up by ggml, differs by %g", format, name, got)
			}
		}
	}
}

// TestQuantise: all instruction sets quantise activations alike.
func TestQuantise(t *testing.T) {
	defer use("")
	for _, set := range instructionSets() {
		use(set)
		for name, v := range allValues() {
			p := product{format: "q8_0", width: 512, rows: 2, tokens: 50, values: v}
			if got := p.quantiseDifferences(); got != 0 {
				t.Errorf("%s, %s: %d units differ", set, name, got)
			}
		}
	}
}

// TestSupport: llama.cpp loads weights for these kernels if they were chosen and
// compute what is done with them. Only token embeddings that are the output layer,
// too, are looked up.
func TestSupport(t *testing.T) {
	register()
	defer use("")
	use(instructionSets()[0])
	defer Choose(false, false, false, 2)
	const embeddings, others = "token_embd.weight", "blk.0.attn_q.weight"
	for _, tt := range []struct {
		name         string
		ours, tied   bool
		weights      string
		lookup, want bool
		experts      int
	}{
		{name: "product", ours: true, weights: others, want: true},
		{name: "product of experts", ours: true, weights: others, experts: 4, want: true},
		{name: "lookup of tied embeddings", ours: true, tied: true, weights: embeddings, lookup: true, want: true},
		{name: "lookup of embeddings", ours: true, weights: embeddings, lookup: true},
		{name: "lookup of others", ours: true, tied: true, weights: others, lookup: true},
		{name: "product, by ggml", weights: others},
		{name: "product of experts, by ggml", weights: others, experts: 4},
		{name: "lookup, by ggml", tied: true, weights: embeddings, lookup: true},
	} {
		Choose(tt.ours, tt.tied, false, 2)
		p := product{width: 256, rows: 40, tokens: 3, experts: tt.experts, used: 2}
		for _, p.format = range formats() {
			if got := p.supported(tt.weights, tt.lookup); got != tt.want {
				t.Errorf("%s of %s: supported is %t", tt.name, p.format, got)
			}
		}
		for _, p.format = range []string{"q2_K", "q3_K", "iq2_xs", "iq3_s", "iq1_s", "tq1_0"} {
			if p.supported(tt.weights, tt.lookup) {
				t.Errorf("%s of %s, which has no kernel, is supported", tt.name, p.format)
			}
		}
	}
	Choose(true, false, false, 2)
	if p := (product{format: "f16", width: 48, rows: 40, tokens: 3}); p.supported(others, false) {
		t.Error("half a unit of columns is supported")
	}
}

// TestUnknownFormat: a format without kernels is not computed by others.
func TestUnknownFormat(t *testing.T) {
	register()
	p := product{format: "q3_K", width: 256, rows: 1, tokens: 1, threads: 1}
	if got := p.difference(); got >= 0 {
		t.Errorf("q3_K differs by %g", got)
	}
}

// TestGELU: GELU after a product of these kernels is exact, and after one of ggml's
// it is ggml's own.
func TestGELU(t *testing.T) {
	register()
	defer use("")
	use(instructionSets()[0])
	for name, form := range map[string]geluForm{"plain": geluPlain, "bias": geluBias, "split": geluSplit, "joined": geluJoined, "swapped": geluSwapped} {
		if got := geluDifference(true, form); !(got >= 0 && got <= 5e-6) {
			t.Errorf("%s: differs by %g", name, got)
		}
		if got := geluDifference(false, form); !(got > 5e-6 && got <= 1) {
			t.Errorf("%s, after a product of ggml's: differs by %g, want what its table differs by", name, got)
		}
	}
}

// TestGELUBounds: as ggml has it, also where there is no number.
func TestGELUBounds(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, tt := range []struct{ x, want float32 }{{0, 0}, {10, 10}, {-10, 0}, {3e38, 3e38}, {-3e38, 0}, {inf, inf}, {-inf, 0}} {
		if got := gelu(tt.x); got != tt.want {
			t.Errorf("of %g: %g, want %g", tt.x, got, tt.want)
		}
	}
	if got := gelu(float32(math.NaN())); !math.IsNaN(float64(got)) {
		t.Errorf("of NaN: %g", got)
	}
}

// TestNorm: the RMS norm of what a product of these kernels was added to is right in single
// precision, for widths that fill vectors and that do not.
func TestNorm(t *testing.T) {
	register()
	defer use("")
	use(instructionSets()[0])
	for _, columns := range []int{1, 7, 8, 9, 31, 32, 33, 64, 70, 576} {
		if got := normDifference(columns); !(got >= 0 && got <= 1e-6) {
			t.Errorf("%d columns: relative error %g", columns, got)
		}
	}
	if !normOurs(true) {
		t.Error("the norm of a product of these kernels is left to ggml")
	}
	if normOurs(false) {
		t.Error("the norm of a product of ggml is computed here")
	}
}
