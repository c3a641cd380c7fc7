package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// maxHead is the most bytes that the head of a safetensors file may claim.
const maxHead = 1 << 24

// safetensors is a file of tensors: the length of a JSON head, the head, and
// the data.
type safetensors struct {
	head map[string]safetensor
	data []byte
}

type safetensor struct {
	Type    string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets [2]int   `json:"data_offsets"` // from its first byte to behind its last
}

func readSafetensors(in io.Reader) (*safetensors, error) {
	var length uint64
	if err := binary.Read(in, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	if length > maxHead {
		return nil, fmt.Errorf("a head of %d bytes", length)
	}
	head := make([]byte, length)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(head, &members); err != nil {
		return nil, err
	}
	s := &safetensors{head: map[string]safetensor{}}
	for name, text := range members {
		if name == "__metadata__" { // strings about the file, and no tensor
			continue
		}
		var t safetensor
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		s.head[name] = t
	}
	var err error
	s.data, err = io.ReadAll(in)
	return s, err
}

// floats takes a tensor of 32-bit floating-point numbers, as its bytes.
func (s *safetensors) floats(name string) ([]byte, []uint64, error) {
	t, ok := s.head[name]
	from, to := t.Offsets[0], t.Offsets[1]
	size := uint64(4)
	for _, n := range t.Shape {
		size *= n
	}
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("there is no tensor %s", name)
	case t.Type != "F32":
		return nil, nil, fmt.Errorf("tensor %s is of type %s, not F32", name, t.Type)
	case from < 0 || to < from || to > len(s.data) || uint64(to-from) != size:
		return nil, nil, fmt.Errorf("tensor %s is not where the head says", name)
	}
	return s.data[from:to], t.Shape, nil
}

// halves turns 32-bit floating-point numbers into 16-bit ones.
func halves(floats []byte) []byte {
	out := make([]byte, 0, len(floats)/2)
	for i := 0; i+4 <= len(floats); i += 4 {
		out = binary.LittleEndian.AppendUint16(out, half(math.Float32frombits(binary.LittleEndian.Uint32(floats[i:]))))
	}
	return out
}

// half rounds to the nearest 16-bit number, of two to the even one.
func half(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	magnitude := math.Abs(float64(x))
	switch {
	case magnitude == 0:
		return sign
	case math.IsNaN(magnitude):
		return sign | 0x7e00
	case magnitude >= 65520: // halfway from the largest number to the one that would follow
		return sign | 0x7c00
	}
	_, exponent := math.Frexp(magnitude)
	unit := math.Ldexp(1, max(exponent-11, -24)) // of the last bit: 11 bits, and fewer below 2^-14
	bits := uint16(math.RoundToEven(magnitude / unit))
	if exponent-11 <= -24 {
		return sign | bits // bits of 1024 are the first number of the next kind, as they should
	}
	return sign | uint16(exponent+13)<<10 + bits
}
