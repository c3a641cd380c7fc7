package inspection

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// layout is what is checked of the tensors of a file.
type layout struct {
	arch    *architecture
	what    string // the file is, for messages: "models of the architecture llama"
	layers  int
	prefix  string // of the names of tensors in layers: "blk."
	tensors map[string]gguf.Tensor
	known   map[string]bool // tensors that the architecture has

	numbers func(layer int) map[string]int64
	key     func(number string) string      // what it is the value of; empty: it is made of others
	there   func(key string) (string, bool) // the whole name of a key, and whether it is there
}

func modelLayout(file *gguf.File, arch *architecture) *layout {
	layers, _ := file.Int(file.Key("block_count"))
	names := variables()
	return &layout{
		arch:    arch,
		what:    "models of the architecture " + file.Architecture(),
		layers:  int(layers),
		prefix:  "blk.",
		tensors: tensorsOf(file),
		known:   map[string]bool{},
		numbers: func(layer int) map[string]int64 { return numbers(file, layer) },
		key:     func(number string) string { return strings.TrimPrefix(names[number], ".") },
		there: func(key string) (string, bool) {
			key = keyName(file, key)
			_, ok := file.Kind(key)
			return key, ok
		},
	}
}

func tensorsOf(file *gguf.File) map[string]gguf.Tensor {
	all := map[string]gguf.Tensor{}
	for _, t := range file.Tensors {
		all[t.Name] = t
	}
	return all
}

// check looks at the tensors, and at what must hold between the numbers.
func (l *layout) check() error {
	if err := l.checkParts(); err != nil {
		return err
	}
	for name := range l.tensors {
		if !l.known[name] {
			return l.stranger(name)
		}
	}
	return nil
}

func (l *layout) stranger(name string) error {
	return fmt.Errorf("the tensor %s does not belong to %s with %d layers", name, l.what, l.layers)
}

// checkParts is check, whatever other tensors there are.
func (l *layout) checkParts() error {
	for _, key := range l.arch.keys {
		if name, ok := l.there(key); !ok {
			return fmt.Errorf("%s is missing; %s have it", name, l.what)
		}
	}
	if err := l.checkSomes(); err != nil {
		return err
	}
	for layer := range l.layers {
		if err := l.checkMusts(l.scope(layer)); err != nil {
			return err
		}
	}
	for layer := range l.layers {
		s := l.scope(layer)
		if layer == 0 {
			if err := l.checkGroups(l.arch.top, s, "", 0); err != nil {
				return err
			}
		}
		if err := l.checkGroups(l.arch.block, s, l.blockPrefix(layer), layer); err != nil {
			return err
		}
	}
	return nil
}

func (l *layout) blockPrefix(layer int) string { return fmt.Sprintf("%s%d.", l.prefix, layer) }

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
	n := l.numbers(numbered)
	n["layer"] = int64(layer)
	return &scope{
		n, l.arch.lets,
		func(name string) bool { return l.dim(layer, name, 0) > 0 },
		func(name string, i int) int64 { return l.dim(layer, name, i) },
	}
}

// dim is the size of a tensor that an expression names, in a layer or, where the
// name has a dot, outside of all.
func (l *layout) dim(layer int, name string, i int) int64 {
	t, ok := l.tensors[l.named(layer, name)]
	if !ok {
		return 0
	}
	return t.Dim(i)
}

func (l *layout) named(layer int, name string) string {
	if strings.Contains(name, ".") {
		return inLayer(wholeName(name), "", layer)
	}
	return inLayer(wholeName(name), l.blockPrefix(layer), layer)
}

// inLayer is the name of a tensor of a layer, which has a prefix or the layer's
// number somewhere else.
func inLayer(name, prefix string, layer int) string {
	if before, after, ok := strings.Cut(name, "#"); ok {
		return before + strconv.Itoa(layer) + after
	}
	return prefix + name
}

func (l *layout) checkMusts(s *scope) error {
	for _, m := range l.arch.musts {
		if m.expr.in(s) == 0 {
			return fmt.Errorf("the numbers of the file do not fit together: %s must hold%s", m.text, l.explain(m.expr, s, ", and "))
		}
	}
	return nil
}

func (l *layout) checkSomes() error {
	for _, m := range l.arch.somes {
		found := false
		for layer := range l.layers {
			found = found || m.expr.in(l.scope(layer)) != 0
		}
		if !found {
			return fmt.Errorf("the numbers of the file do not fit together: %s must hold in one of the %d layers%s", m.text, l.layers, l.explain(m.expr, l.scope(0), ", and in the first "))
		}
	}
	return nil
}

// explain lists the keys of an expression with their values, after some words.
func (l *layout) explain(e *expression, s *scope, words string) string {
	var parts []string
	for _, name := range e.names(l.arch.lets) {
		part := fmt.Sprintf("%s is %d", name, s.numbers[name])
		if key := l.key(name); key != "" {
			part += " (" + key + ")"
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return words + strings.Join(parts, ", ")
}

func (l *layout) checkGroups(groups []group, s *scope, prefix string, layer int) error {
	for _, g := range groups {
		if g.when != nil && g.when.in(s) == 0 {
			continue
		}
		for _, w := range g.tensors {
			if err := l.checkTensor(w, s, inLayer(w.name, prefix, layer)); err != nil {
				return err
			}
		}
		if err := l.checkTogether(g, prefix, layer); err != nil {
			return err
		}
	}
	return nil
}

func (l *layout) checkTensor(w want, s *scope, name string) error {
	l.known[name] = true
	t, ok := l.tensors[name]
	if !ok {
		if w.optional {
			return nil
		}
		return fmt.Errorf("the tensor %s is missing; %s have it", name, l.what)
	}
	dims := make([]int64, len(w.dims))
	for i, expr := range w.dims {
		dims[i] = expr.in(s)
	}
	if !sameShape(t, dims) {
		return fmt.Errorf("the tensor %s has the dimensions %v; by the numbers of the file it must have %v", name, t.Dims, dims)
	}
	return checkType(t, w.types)
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
func (l *layout) checkTogether(g group, prefix string, layer int) error {
	there, missing := map[byte]string{}, map[byte]string{}
	for _, w := range g.tensors {
		if w.together == 0 {
			continue
		}
		name := inLayer(w.name, prefix, layer)
		if _, ok := l.tensors[name]; ok {
			there[w.together] = name
		} else {
			missing[w.together] = name
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
func checkType(t gguf.Tensor, types []string) error {
	full := len(t.Dims) < 2 || isExact(t.Name)
	switch {
	case types != nil && slices.Contains(types, t.Type.String()):
	case types != nil:
		return fmt.Errorf("the tensor %s is stored as %s; it must be %s", t.Name, t.Type, strings.Join(types, " or "))
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
