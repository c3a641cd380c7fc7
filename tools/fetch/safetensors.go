package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// maxHead limits the header of a safetensors file, in bytes.
const maxHead = 1 << 24

// safetensors is a file of tensors: the length of a JSON header, the header, and
// the data.
type safetensors struct {
	head map[string]safetensor
	data []byte
}

type safetensor struct {
	Type    string   `json:"dtype"`
	Shape   []uint64 `json:"shape"`
	Offsets [2]int   `json:"data_offsets"` // start and end in the data
}

func readSafetensors(in io.Reader) (*safetensors, error) {
	var length uint64
	if err := binary.Read(in, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	if length > maxHead {
		return nil, fmt.Errorf("a header of %d bytes", length)
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
		if name == "__metadata__" { // not a tensor
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

// floats returns the bytes of an F32 tensor.
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
		return nil, nil, fmt.Errorf("tensor %s has invalid offsets", name)
	}
	return s.data[from:to], t.Shape, nil
}

// halves converts F32 to F16.
func halves(floats []byte) []byte {
	out := make([]byte, 0, len(floats)/2)
	for i := 0; i+4 <= len(floats); i += 4 {
		out = binary.LittleEndian.AppendUint16(out, half(math.Float32frombits(binary.LittleEndian.Uint32(floats[i:]))))
	}
	return out
}

// half converts to F16, rounding to nearest even.
func half(x float32) uint16 {
	sign := uint16(math.Float32bits(x) >> 16 & 0x8000)
	magnitude := math.Abs(float64(x))
	switch {
	case magnitude == 0:
		return sign
	case math.IsNaN(magnitude):
		return sign | 0x7e00
	case magnitude >= 65520: // rounds to infinity
		return sign | 0x7c00
	}
	_, exponent := math.Frexp(magnitude)
	unit := math.Ldexp(1, max(exponent-11, -24)) // of the last bit: 11 bits of precision, fewer below 2^-14
	bits := uint16(math.RoundToEven(magnitude / unit))
	if exponent-11 <= -24 {
		return sign | bits // a carry to 1024 is the smallest normal number, as it should be
	}
	return sign | uint16(exponent+13)<<10 + bits
}
