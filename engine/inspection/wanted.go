package inspection

import (
	"fmt"

	"github.com/diglot/diglot/engine/gguf"
)

// Wanted is a tensor that the numbers of a file ask for.
type Wanted struct {
	Name     string
	Dims     []int64 // the innermost first
	Optional bool
	Exact    bool // it is stored as F32
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
	l := newLayout(file, arch)
	var all []Wanted
	layers, _ := file.Int(file.Key("block_count"))
	for layer := range int(layers) {
		s := l.scope(layer)
		prefix := fmt.Sprintf("blk.%d.", layer)
		s.has = func(name string) bool { return has(prefix + name + ".weight") }
		if layer == 0 {
			all = append(all, wantedOf(arch.top, s, "")...)
		}
		all = append(all, wantedOf(arch.block, s, prefix)...)
	}
	return all, nil
}

func wantedOf(groups []group, s *scope, prefix string) []Wanted {
	var all []Wanted
	for _, g := range groups {
		if g.when != nil && g.when.in(s) == 0 {
			continue
		}
		for _, t := range g.tensors {
			w := Wanted{Name: prefix + t.name, Optional: t.optional}
			for _, expr := range t.dims {
				w.Dims = append(w.Dims, expr.in(s))
			}
			w.Exact = len(w.Dims) < 2 || isExact(w.Name)
			all = append(all, w)
		}
	}
	return all
}

// Architectures are those that can be run.
func Architectures() ([]string, error) {
	table, err := parseArchitectures(architecturesText)
	return sortedNames(table), err
}
