package diffusiontest

import (
	"encoding/binary"
	"math"

	"github.com/diglot/diglot/engine/safetensors"
)

// linear is a matrix that keeps the variance of what it multiplies.
func (w *weights) linear(name string, in, out int) {
	w.normal(name+".weight", 1/math.Sqrt(float64(in)), out, in)
}

// convolution has a kernel of size by size and a small bias.
func (w *weights) convolution(name string, in, out, size int, gain float64) {
	w.kernel(name, in, out, size, gain)
	w.normal(name+".bias", 0.05, out)
}

// kernel is a convolution without a bias.
func (w *weights) kernel(name string, in, out, size int, gain float64) {
	w.normal(name+".weight", gain/math.Sqrt(float64(in*size*size)), out, in, size, size)
}

// normal has normally distributed numbers.
func (w *weights) normal(name string, deviation float64, shape ...int) {
	values := make([]float64, product(shape))
	for i := range values {
		values[i] = w.random.NormFloat64() * deviation
	}
	w.halves(name, values, shape...)
}

func (w *weights) ones(name string, n int) { w.constant(name, 1, n) }

// constant is a vector of equal numbers, with full precision like all norms.
func (w *weights) constant(name string, value float32, n int) {
	var data []byte
	for range n {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(value))
	}
	w.add(name, "F32", data, n)
}

// halves is a tensor of 16-bit floats.
func (w *weights) halves(name string, values []float64, shape ...int) {
	data := make([]byte, 0, 2*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint16(data, half(v))
	}
	w.add(name, "F16", data, shape...)
}

func (w *weights) add(name, kind string, data []byte, shape ...int) {
	long := make([]int64, len(shape))
	for i, n := range shape {
		long[i] = int64(n)
	}
	w.tensors = append(w.tensors, safetensors.Data{Name: name, Type: kind, Shape: long, Bytes: data})
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Parts of a 16-bit float.
const (
	halfMantissa = 10 // bits
	halfBias     = 15
	halfMost     = 65504
)

// half rounds to the nearest 16-bit float, ties to even. Weights are finite.
func half(v float64) uint16 {
	var sign uint16
	if math.Signbit(v) {
		sign, v = 0x8000, -v
	}
	if v == 0 {
		return sign
	}
	v = min(v, halfMost)
	_, exponent := math.Frexp(v)                   // v < 2^exponent
	exponent = max(exponent-1, 1-halfBias)         // subnormal numbers share the least one
	scaled := math.Ldexp(v, halfMantissa-exponent) // the mantissa with its leading bit
	bits := uint16(math.RoundToEven(scaled))
	// A mantissa that was rounded up carries into the exponent, as it should.
	return sign | (uint16(exponent+halfBias-1)<<halfMantissa + bits)
}
