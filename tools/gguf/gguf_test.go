package gguf

import (
	"bytes"
	"strings"
	"testing"
)

// TestWriteTo compares a small file with its bytes, as the format has them.
func TestWriteTo(t *testing.T) {
	var f File
	f.Set("s", "ab")
	f.Set("u", uint32(7))
	f.Set("b", true)
	f.Set("f", float32(1))
	f.Set("l", []string{"x", ""})
	f.Set("n", []int32{-1})
	f.Set("r", []float32{1})
	f.Tensors = []Tensor{
		{"t", []uint64{3, 2}, TensorF16, []byte("0123456789ab")},
		{"v", []uint64{1}, TensorF32, []byte("wxyz")},
	}
	head := "GGUF" + u32(3) + u64(2) + u64(7) +
		text("s") + u32(8) + text("ab") +
		text("u") + u32(4) + u32(7) +
		text("b") + u32(7) + "\x01" +
		text("f") + u32(6) + "\x00\x00\x80\x3f" +
		text("l") + u32(9) + u32(8) + u64(2) + text("x") + text("") +
		text("n") + u32(9) + u32(5) + u64(1) + "\xff\xff\xff\xff" +
		text("r") + u32(9) + u32(6) + u64(1) + "\x00\x00\x80\x3f" +
		text("t") + u32(2) + u64(2) + u64(3) + u32(1) + u64(0) +
		text("v") + u32(1) + u64(1) + u32(0) + u64(32)
	want := aligned(head) + aligned("0123456789ab") + aligned("wxyz")
	var got bytes.Buffer
	n, err := f.WriteTo(&got)
	if err != nil || n != int64(len(want)) {
		t.Errorf("WriteTo = %d, %v; want %d", n, err, len(want))
	}
	if got.String() != want {
		t.Errorf("got  %q\nwant %q", got.String(), want)
	}
}

func u32(n byte) string { return string([]byte{n, 0, 0, 0}) }

func u64(n byte) string { return u32(n) + u32(0) }

func text(s string) string { return u64(byte(len(s))) + s }

func aligned(s string) string { return s + strings.Repeat("\x00", padding(len(s))) }
