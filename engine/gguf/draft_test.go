package gguf

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWriteTo compares a small file with its bytes, as the format has them.
func TestWriteTo(t *testing.T) {
	var f Draft
	f.Set("s", "ab")
	f.Set("u", uint32(7))
	f.Set("b", true)
	f.Set("f", float32(1))
	f.Set("l", []string{"x", ""})
	f.Set("n", []int32{-1})
	f.Set("r", []float32{1})
	f.Tensors = []Weight{
		{Name: "t", Type: F16, Dims: []uint64{2, 3}, Data: []byte("0123456789ab")},
		{Name: "v", Dims: []uint64{1}, Data: []byte("wxyz")},
	}
	head := Magic + u32(3) + u64(2) + u64(7) +
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

func aligned(s string) string { return s + strings.Repeat("\x00", int(padding(int64(len(s)), 32))) }

// TestDraftOf writes a file, with holes for its data, and takes it apart again.
func TestDraftOf(t *testing.T) {
	want := small()
	want.Alignment = 64
	want.Set("general.alignment", uint32(64))
	for _, k := range []Key{
		{Type: Uint8, Bits: 200}, {Type: Int8, Bits: 0xfe}, {Type: Uint16, Bits: 1 << 15}, {Type: Int16, Bits: 0xfffe}, {Type: Int32, Bits: 0xfffffffe},
		{Type: Uint64, Bits: math.MaxUint64}, {Type: Int64, Bits: math.MaxUint64}, {Type: Float64, Bits: math.Float64bits(-0.1)},
		{Type: ArrayOf, Array: Values{Type: Int16, Bits: []uint64{0xfffe, 1}}}, {Type: ArrayOf, Array: Values{Type: Float64, Bits: []uint64{math.Float64bits(0.1)}}},
		{Type: ArrayOf, Array: Values{Type: Uint32, Bits: make([]uint64, 2*keepArray)}},
	} {
		k.Name = "k." + string('a'+rune(len(want.Keys)))
		want.Keys = append(want.Keys, k)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := want.Write(path); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(written, want.Bytes()) {
		t.Errorf("the file has other bytes than the draft (error %v)", err)
	}
	got, err := DraftOf(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Bytes(), got.Bytes()); diff != "" {
		t.Errorf("taken apart and written again: %s", diff)
	}
	if diff := cmp.Diff(want.Tensors, got.Tensors); diff != "" {
		t.Errorf("tensors: %s", diff)
	}
}
