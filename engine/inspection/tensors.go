package inspection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// layout is what is checked of the tensors of a file.
type layout struct {
	file    *gguf.File
	arch    *architecture
	tensors map[string]gguf.Tensor
	known   map[string]bool // tensors that the architecture has
}

func newLayout(file *gguf.File, arch *architecture) *layout {
	l := &layout{file: file, arch: arch, tensors: map[string]gguf.Tensor{}, known: map[string]bool{}}
	for _, t := range file.Tensors {
		l.tensors[t.Name] = t
	}
	return l
}

// check looks at the tensors, and at what must hold between the numbers.
func (l *layout) check() error {
	for _, key := range l.arch.keys {
		if _, ok := l.file.Kind(keyName(l.file, key)); !ok {
			return fmt.Errorf("%s is missing; models of the architecture %s have it", keyName(l.file, key), l.file.Architecture())
		}
	}
	layers, _ := l.file.Int(l.file.Key("block_count"))
	if err := l.checkSomes(int(layers)); err != nil {
		return err
	}
	for layer := range int(layers) {
		if err := l.checkMusts(l.scope(layer)); err != nil {
			return err
		}
	}
	for layer := range int(layers) {
		s := l.scope(layer)
		if layer == 0 {
			if err := l.checkGroups(l.arch.top, s, ""); err != nil {
				return err
			}
		}
		if err := l.checkGroups(l.arch.block, s, fmt.Sprintf("blk.%d.", layer)); err != nil {
			return err
		}
	}
	for _, t := range l.file.Tensors {
		if !l.known[t.Name] {
			return fmt.Errorf("the tensor %s does not belong to a model of the architecture %s with %d layers", t.Name, l.file.Architecture(), layers)
		}
	}
	return nil
}

// keyName is the whole name of a key that the table names: xielu has no
// architecture before it.
func keyName(file *gguf.File, key string) string {
	if strings.HasPrefix(key, "xielu.") {
		return key
	}
	return file.Key(key)
}

func (l *layout) scope(layer int) *scope {
	numbered := layer
	if !l.arch.flags["vary"] {
		numbered = 0
	}
	n := numbers(l.file, numbered)
	n["layer"] = int64(layer)
	prefix := fmt.Sprintf("blk.%d.", layer)
	return &scope{n, l.arch.lets, func(name string) bool {
		_, ok := l.tensors[prefix+name+".weight"]
		return ok
	}}
}

func (l *layout) checkMusts(s *scope) error {
	for _, m := range l.arch.musts {
		if m.expr.in(s) == 0 {
			return fmt.Errorf("the numbers of the file do not fit together: %s must hold, and %s", m.text, l.explain(m.expr, s))
		}
	}
	return nil
}

func (l *layout) checkSomes(layers int) error {
	for _, m := range l.arch.somes {
		found := false
		for layer := range layers {
			found = found || m.expr.in(l.scope(layer)) != 0
		}
		if !found {
			return fmt.Errorf("the numbers of the file do not fit together: %s must hold in one of the %d layers, and in the first %s", m.text, layers, l.explain(m.expr, l.scope(0)))
		}
	}
	return nil
}

// explain lists the keys of an expression with their values.
func (l *layout) explain(e *expression, s *scope) string {
	var parts []string
	for _, name := range e.names(l.arch.lets) {
		part := fmt.Sprintf("%s is %d", name, s.numbers[name])
		if key := variables()[name]; key != "" {
			part += " (" + strings.TrimPrefix(key, ".") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func (l *layout) checkGroups(groups []group, s *scope, prefix string) error {
	for _, g := range groups {
		if g.when != nil && g.when.in(s) == 0 {
			continue
		}
		for _, w := range g.tensors {
			if err := l.checkTensor(w, s, prefix); err != nil {
				return err
			}
		}
		if err := l.checkTogether(g, prefix); err != nil {
			return err
		}
	}
	return nil
}

func (l *layout) checkTensor(w want, s *scope, prefix string) error {
	name := prefix + w.name
	l.known[name] = true
	t, ok := l.tensors[name]
	if !ok {
		if w.optional {
			return nil
		}
		return fmt.Errorf("the tensor %s is missing; models of the architecture %s have it", name, l.file.Architecture())
	}
	dims := make([]int64, len(w.dims))
	for i, expr := range w.dims {
		dims[i] = expr.in(s)
	}
	if !sameShape(t, dims) {
		return fmt.Errorf("the tensor %s has the dimensions %v; by the numbers of the file it must have %v", name, t.Dims, dims)
	}
	return checkType(t)
}

func sameShape(t gguf.Tensor, dims []int64) bool {
	for i := range max(len(t.Dims), len(dims)) {
		want := int64(1)
		if i < len(dims) {
			want = dims[i]
		}
		if t.Dim(i) != want {
			return false
		}
	}
	return true
}

// checkTogether looks at tensors that are there together or not at all.
func (l *layout) checkTogether(g group, prefix string) error {
	there, missing := map[byte]string{}, map[byte]string{}
	for _, w := range g.tensors {
		if w.together == 0 {
			continue
		}
		if _, ok := l.tensors[prefix+w.name]; ok {
			there[w.together] = prefix + w.name
		} else {
			missing[w.together] = prefix + w.name
		}
	}
	for mark, name := range there {
		if other, ok := missing[mark]; ok {
			return fmt.Errorf("the tensor %s is missing; models with %s have it too", other, name)
		}
	}
	return nil
}

// matrixTypes are how weights may be stored that llama.cpp multiplies with.
var matrixTypes = []string{
	"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K",
	"IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "IQ1_M", "TQ1_0", "TQ2_0", "MXFP4",
}

// exact are parts of names of tensors that are added, or multiplied number by
// number: llama.cpp takes those as F32 alone.
var exact = []string{
	"norm.weight", "_norm_2.weight", ".bias", ".scale", ".scales", "_norm", "rope_freqs", "rope_factors", "ssm_a", "ssm_d", "ssm_conv1d", "shortconv.conv",
	"attn_sinks", "token_types", "time_mix_first", "time_mix_lerp", "time_mix_decay.weight", "time_mix_ln", "time_mix_w0", "time_mix_a0", "time_mix_v0",
	"time_mix_k_k", "time_mix_k_a", "time_mix_r_k", "channel_mix_lerp", "bskcn_tv", "altup_correct_scale",
}

// checkType wants numbers in a type that can be computed with.
func checkType(t gguf.Tensor) error {
	full := len(t.Dims) < 2 || isExact(t.Name)
	switch {
	case full && t.Type != gguf.F32:
		return fmt.Errorf("the tensor %s is stored as %s; it must be F32", t.Name, t.Type)
	case !slices.Contains(matrixTypes, t.Type.String()):
		return fmt.Errorf("the tensor %s is stored as %s; weights may have %s", t.Name, t.Type, strings.Join(matrixTypes, ", "))
	}
	return nil
}

func isExact(name string) bool {
	return slices.ContainsFunc(exact, func(part string) bool { return strings.Contains(name, part) })
}
