package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestHalf(t *testing.T) {
	tests := []struct {
		x    float32
		want uint16
	}{
		{0, 0x0000},
		{float32(math.Copysign(0, -1)), 0x8000},
		{1, 0x3c00},
		{-2, 0xc000},
		{0.1, 0x2e66},
		{65504, 0x7bff}, // the largest
		{65519.996, 0x7bff},
		{65520, 0x7c00},
		{float32(math.Inf(-1)), 0xfc00},
		{float32(math.NaN()), 0x7e00},
		{1 + 1.0/2048, 0x3c00},                  // halfway, to the even one below
		{1 + 3.0/2048, 0x3c02},                  // halfway, to the even one above
		{2 - 1.0/4096, 0x4000},                  // up to the next power of two
		{float32(math.Ldexp(1, -14)), 0x0400},   // the smallest with all its bits
		{float32(math.Ldexp(1, -24)), 0x0001},   // the smallest
		{float32(math.Ldexp(1, -25)), 0x0000},   // halfway to nothing
		{float32(math.Ldexp(1.5, -25)), 0x0001}, // more than that
		{float32(math.Ldexp(2047, -25)), 0x0400},
		{math.SmallestNonzeroFloat32, 0x0000},
	}
	for _, tt := range tests {
		if got := half(tt.x); got != tt.want {
			t.Errorf("half(%v) = %#04x, want %#04x", tt.x, got, tt.want)
		}
	}
}

// TestHalfOfHalves: what is a 16-bit number already stays it.
func TestHalfOfHalves(t *testing.T) {
	for bits := range uint16(0x7c00) {
		exponent, fraction := int(bits>>10), float64(bits&0x3ff)
		x := math.Ldexp(fraction, -24)
		if exponent > 0 {
			x = math.Ldexp(1024+fraction, exponent-25)
		}
		if got := half(float32(x)); got != bits {
			t.Fatalf("half(%v) = %#04x, want %#04x", x, got, bits)
		}
		if got := half(float32(-x)); got != bits|0x8000 {
			t.Fatalf("half(%v) = %#04x, want %#04x", -x, got, bits|0x8000)
		}
	}
}

func TestReadSafetensors(t *testing.T) {
	file := func(head string, data int) string {
		return string(binary.LittleEndian.AppendUint64(nil, uint64(len(head)))) + head + strings.Repeat("x", data)
	}
	const head = `{"__metadata__": {"format": "pt"}, "a": {"dtype": "%s", "shape": [2, 1], "data_offsets": [%d, %d]}}`
	tests := []struct {
		name, file string
		fails      string // empty: it must not
	}{
		{"right", file(fmt.Sprintf(head, "F32", 4, 12), 12), ""},
		{"another type", file(fmt.Sprintf(head, "F16", 4, 8), 12), "of type F16"},
		{"too short for its shape", file(fmt.Sprintf(head, "F32", 4, 8), 12), "invalid offsets"},
		{"behind the end", file(fmt.Sprintf(head, "F32", 8, 16), 12), "invalid offsets"},
		{"before the beginning", file(fmt.Sprintf(head, "F32", -8, 0), 12), "invalid offsets"},
		{"another name", file(`{}`, 0), "no tensor a"},
		{"no JSON", file(`{`, 0), "JSON"},
		{"cut off", file(fmt.Sprintf(head, "F32", 4, 12), 0)[:20], "EOF"},
		{"a head without end", string(binary.LittleEndian.AppendUint64(nil, 1<<40)), "a header of"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := readSafetensors(strings.NewReader(tt.file))
			var data []byte
			if err == nil {
				data, _, err = s.floats("a")
			}
			switch {
			case tt.fails == "" && (err != nil || string(data) != "xxxxxxxx"):
				t.Errorf("%q, %v", data, err)
			case tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails)):
				t.Errorf("got %v, want an error with %q", err, tt.fails)
			}
		})
	}
}
