package inspection

import (
	"maps"

	"github.com/diglot/diglot/engine/gguf"
)

// Wanted is a tensor that the numbers of a file ask for.
type Wanted struct {
	Name     string
	Dims     []int64 // the innermost first
	Optional bool
	Exact    bool     // it is stored as F32
	Types    []string // how it may be stored, where that is said; nil: see Exact
}

// Tensors lists what a model with the metadata of a file has, whatever the file
// itself has: the table of its architecture with numbers put in. Of tensors that
// are there instead of others, it lists those that must be there where the
// optional ones are not.
func Tensors(file *gguf.File, has func(name string) bool) ([]Wanted, error) {
	arch, err := known(file)
	if err != nil {
		return nil, err
	}
	return modelLayout(file, arch).wanted(has), nil
}

// ProjectorTensors is [Tensors] for a projector.
func ProjectorTensors(file *gguf.File, has func(name string) bool) ([]Wanted, error) {
	parts, err := projectorLayouts(file)
	if err != nil {
		return nil, err
	}
	var all []Wanted
	for _, l := range parts {
		all = append(all, l.wanted(has)...)
	}
	return all, nil
}

func (l *layout) wanted(has func(name string) bool) []Wanted {
	var all []Wanted
	for layer := range l.layers {
		s := l.scope(layer)
		s.has = func(name string) bool { return has(l.named(layer, name)) }
		if layer == 0 {
			all = append(all, wantedOf(l.arch.top, s, "", 0)...)
		}
		all = append(all, wantedOf(l.arch.block, s, l.blockPrefix(layer), layer)...)
	}
	return all
}

func wantedOf(groups []group, s *scope, prefix string, layer int) []Wanted {
	var all []Wanted
	for _, g := range groups {
		if g.when != nil && g.when.in(s) == 0 {
			continue
		}
		for _, t := range g.tensors {
			w := Wanted{Name: inLayer(t.name, prefix, layer), Optional: t.optional, Types: t.types}
			for _, expr := range t.dims {
				w.Dims = append(w.Dims, expr.in(s))
			}
			w.Exact = len(w.Dims) < 2 || isExact(w.Name)
			all = append(all, w)
		}
	}
	return all
}

// ProjectorTypes are those that see.
func ProjectorTypes() ([]string, error) {
	table, err := parseTable(projectorsText)
	maps.DeleteFunc(table, func(_ string, a *architecture) bool { return a.flags["hears"] })
	return sortedNames(table), err
}

// Architectures are those that can be run.
func Architectures() ([]string, error) {
	table, err := parseTable(architecturesText)
	return sortedNames(table), err
}
