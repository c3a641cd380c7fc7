//go:build imagegen

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// change changes one tensor, and says how. Most changes leave a header that is valid
// in itself, so that the engine sees them.
func (f tensorFile) change(random *rand.Rand) string {
	names := f.names()
	if len(names) == 0 {
		return "nothing is left"
	}
	name := names[random.IntN(len(names))]
	e := f.header[name].(*tensorEntry)
	switch random.IntN(9) {
	case 0:
		slices.Reverse(e.Shape)
		return fmt.Sprintf("%s reversed to %v", name, e.Shape)
	case 1:
		return f.resize(name, e, random)
	case 2:
		return f.retype(name, e, random)
	case 3:
		return f.rename(name, random)
	case 4:
		delete(f.header, name)
		return name + " removed"
	case 5:
		return f.swap(name, e, random)
	case 6:
		e.Shape = append(e.Shape, 1, 1)[:len(e.Shape)+1+random.IntN(2)]
		return fmt.Sprintf("%s has %d dimensions", name, len(e.Shape))
	case 7:
		e.Shape = slices.Clone(e.Shape)
		e.Shape[random.IntN(len(e.Shape))] = []int64{0, -1, 1 << 31, 1 << 40, 1 << 62, math.MaxInt64}[random.IntN(6)]
		return fmt.Sprintf("%s has the shape %v", name, e.Shape)
	}
	for i := e.Offsets[0]; i < min(e.Offsets[1], int64(len(f.data))); i++ {
		f.data[i] = 0xff // NaN
	}
	return name + " has no numbers"
}

// resize gives a tensor another size, and the bytes for it if there are some.
func (f tensorFile) resize(name string, e *tensorEntry, random *rand.Rand) string {
	i := random.IntN(len(e.Shape))
	element := e.Offsets[1] - e.Offsets[0]
	for _, n := range e.Shape {
		element /= max(n, 1)
	}
	e.Shape = slices.Clone(e.Shape)
	e.Shape[i] = []int64{0, 1, e.Shape[i] / 2, e.Shape[i] - 1}[random.IntN(4)]
	size := element
	for _, n := range e.Shape {
		size *= max(n, 0)
	}
	e.Offsets[1] = e.Offsets[0] + size
	return fmt.Sprintf("%s resized to %v", name, e.Shape)
}

// retype gives a tensor another type of the same width.
func (f tensorFile) retype(name string, e *tensorEntry, random *rand.Rand) string {
	types := []string{"F32", "I32", "U32"}
	if e.Type != "F32" {
		types = []string{"F16", "BF16", "I16", "U16"}
	}
	e.Type = types[random.IntN(len(types))]
	return name + " is of type " + e.Type
}

func (f tensorFile) rename(name string, random *rand.Rand) string {
	e := f.header[name]
	delete(f.header, name)
	to := []string{
		name + ".x", strings.Replace(name, "blocks.0", "blocks.7", 1), strings.Replace(name, "layers.0", "layers.9999999999999999999", 1), strings.ToUpper(name),
		"", strings.Repeat(name, 40), "model.diffusion_model." + name, "%s%n" + name,
	}[random.IntN(8)]
	f.header[to] = e
	return fmt.Sprintf("%s renamed to %.60q", name, to)
}

// swap gives a tensor the bytes of another one of the same size.
func (f tensorFile) swap(name string, e *tensorEntry, random *rand.Rand) string {
	names := f.names()
	for range names {
		o := f.header[names[random.IntN(len(names))]].(*tensorEntry)
		if o != e && o.Offsets[1]-o.Offsets[0] == e.Offsets[1]-e.Offsets[0] {
			e.Shape, o.Shape = o.Shape, e.Shape
			return name + " has the shape of another tensor"
		}
	}
	e.Offsets[0]++
	e.Offsets[1]++
	return name + " is one byte further"
}
