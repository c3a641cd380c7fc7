package gguf

import (
	"fmt"
	"math"
	"math/bits"
)

func (d *reader) tensors(n uint64) ([]Tensor, error) {
	d.section = "the list of tensors"
	var tensors []Tensor
	for range n {
		t, err := d.tensor()
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, t)
	}
	return tensors, nil
}

func (d *reader) tensor() (Tensor, error) {
	name, err := d.string(maxName)
	if err != nil {
		return Tensor{}, err
	}
	dims, err := d.uint(4)
	if err != nil {
		return Tensor{}, err
	}
	if dims > 4 {
		return Tensor{}, fmt.Errorf("tensor %q has %d dimensions", name, dims)
	}
	t := Tensor{Name: name, Elements: 1, Dims: make([]int64, dims)}
	for i := range t.Dims {
		n, err := d.uint(8)
		if err != nil {
			return Tensor{}, err
		}
		over, product := bits.Mul64(uint64(t.Elements), n)
		if over != 0 || max(product, n) > math.MaxInt64 {
			return Tensor{}, fmt.Errorf("tensor %q has too many elements", name)
		}
		t.Dims[i], t.Elements = int64(n), int64(product)
	}
	kind, err := d.uint(4)
	if err != nil {
		return Tensor{}, err
	}
	offset, err := d.uint(8)
	if err != nil {
		return Tensor{}, err
	}
	t.Type, t.Offset = Type(kind), int64(min(offset, math.MaxInt64))
	t.Bytes = t.Type.Size(t.Elements)
	return t, t.check()
}
