package inspection

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// checkKeys looks at the metadata that a section of keys.txt lists, each value
// by itself.
func checkKeys(file *gguf.File, section string, layers int64) error {
	keys, err := keysOf(section)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := k.check(file, layers); err != nil {
			return err
		}
	}
	return nil
}

func (k key) check(file *gguf.File, layers int64) error {
	name := k.in(file.Architecture())
	kind, ok := file.Kind(name)
	if !ok {
		if k.must {
			return fmt.Errorf("%s is missing: it is %s", name, k.what)
		}
		return nil
	}
	if err := k.checkKind(file, name, kind, layers); err != nil {
		return err
	}
	if k.kind == gguf.String {
		return k.checkText(file, name)
	}
	values, ok := file.Numbers(name)
	if !ok {
		return nil // bools
	}
	for _, v := range values {
		if math.IsNaN(v) || (v < k.min || v > k.max) && (v != 0 || !k.zero) {
			return fmt.Errorf("%s is %s; %s must be %s", name, written(v), k.what, k.span())
		}
	}
	return nil
}

// checkKind wants the type that llama.cpp takes the value in.
func (k key) checkKind(file *gguf.File, name string, kind gguf.Kind, layers int64) error {
	wrong := fmt.Errorf("%s is stored as %s; %s must be a %s", name, kind, k.what, k.kind)
	if kind.Type != gguf.ArrayOf {
		if kind.Type != k.kind || k.array == always {
			return wrong
		}
		return nil
	}
	element := kind.Element == k.kind || k.kind == gguf.Uint32 && kind.Element == gguf.Int32 || k.kind == gguf.Int32 && kind.Element == gguf.Uint32
	if k.array == noArray || !element {
		return wrong
	}
	want := int64(file.Len(name))
	switch k.array {
	case four:
		want = 4
	case perLayer:
		want = layers
	}
	if n := int64(file.Len(name)); n != want {
		return fmt.Errorf("%s has %d values; %s must have %d", name, n, k.what, want)
	}
	return nil
}

func (k key) checkText(file *gguf.File, name string) error {
	text := file.String(name)
	if strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s has a NUL in it; %s must be a text", name, k.what)
	}
	if k.oneOf != nil && !slices.Contains(k.oneOf, text) {
		return fmt.Errorf("%s is %.40q; %s must be one of %s", name, text, k.what, strings.Join(k.oneOf, ", "))
	}
	return nil
}

// span says which numbers are allowed.
func (k key) span() string {
	if k.min == tiny {
		return fmt.Sprintf("above 0, and at most %s", written(k.max))
	}
	span := fmt.Sprintf("from %s to %s", written(k.min), written(k.max))
	if k.zero {
		span += ", or 0"
	}
	return span
}

// written is a number as people write it.
func written(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e12 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%g", v)
}

// numbers are what expressions of architectures.txt name, for one layer.
func numbers(file *gguf.File, layer int) map[string]int64 {
	n := map[string]int64{}
	for name, key := range variables() {
		if key == "" {
			continue
		}
		if strings.HasPrefix(key, ".") {
			key = file.Architecture() + key
		}
		n[name] = number(file, key, layer)
	}
	absent := func(name string, value int64) {
		key := variables()[name]
		if strings.HasPrefix(key, ".") {
			key = file.Architecture() + key
		}
		if _, ok := file.Kind(key); !ok {
			n[name] = value
		}
	}
	// What llama.cpp takes where a key is absent.
	absent("kv", n["heads"])
	absent("labels", 1)
	absent("shift", 2)
	head := int64(0)
	if first := number(file, file.Key("attention.head_count"), 0); first > 0 {
		head = n["embd"] / first
		absent("key", head)
		absent("val", head)
		absent("rot", n["key"])
	} else {
		n["key"], n["val"], n["rot"] = 0, 0, 0
	}
	n["q"], n["k"], n["v"] = n["heads"]*n["key"], n["kv"]*n["key"], n["kv"]*n["val"]
	n["layer"] = int64(layer)
	_, windowed := file.Kind(file.Key("attention.sliding_window"))
	n["unwindowed"] = truth(windowed && n["window"] == 0)
	return n
}

// number is the value of a key for a layer; of an array of any length, how long
// it is.
func number(file *gguf.File, key string, layer int) int64 {
	if n, ok := file.Int(key); ok {
		return n
	}
	if values := file.Ints(key); values != nil && !strings.HasPrefix(key, "tokenizer.") {
		if layer < len(values) {
			return values[layer]
		}
		return 0
	}
	return int64(file.Len(key))
}
