package llamacpp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// gguf is what the head of a GGUF file says. It is read before llama.cpp
// sees the file: a file that is cut short, or is something else, gets an
// error that says what is wrong, and llama.cpp never maps memory that the
// file does not have.
type gguf struct {
	meta map[string]any // bool, int64, uint64, float64, string; []any of short arrays of these
}

// Bounds on what a head may claim. They are far above real files (the
// biggest vocabularies have 300,000 entries) and keep memory small.
const (
	ggufMaxKeys    = 1 << 16
	ggufMaxTensors = 1 << 20
	ggufMaxString  = 1 << 24
	ggufMaxName    = 1 << 16
	ggufKeepArray  = 1 << 12 // longer arrays are walked over, not kept
)

// The types of metadata values, by number.
const (
	ggufUint8 = iota
	ggufInt8
	ggufUint16
	ggufInt16
	ggufUint32
	ggufInt32
	ggufFloat32
	ggufBool
	ggufString
	ggufArray
	ggufUint64
	ggufInt64
	ggufFloat64
)

// readGGUF reads the head of a file of the given size, and checks that each
// tensor lies inside the file.
func readGGUF(r io.Reader, size int64) (*gguf, error) {
	d := &ggufReader{r: bufio.NewReaderSize(r, 1<<16), size: size}
	file, err := d.file()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("the file ends inside %s (%d bytes long)", d.place, size)
	}
	return file, err
}

// ggufReader keeps count of where it is. place names the part of the file
// that is being read, for errors.
type ggufReader struct {
	r       *bufio.Reader
	size    int64
	at      int64
	place   string
	scratch [8]byte
}

func (d *ggufReader) file() (*gguf, error) {
	d.place = "the header"
	head, err := d.bytes(4)
	if err != nil {
		return nil, err
	}
	if string(head) != "GGUF" {
		return nil, fmt.Errorf("not a GGUF file: it begins with %q", head)
	}
	version, err := d.uint(4)
	if err != nil {
		return nil, err
	}
	if version != 2 && version != 3 {
		return nil, fmt.Errorf("GGUF version %d; 2 and 3 can be read", version)
	}
	tensors, err := d.count("tensors", ggufMaxTensors)
	if err != nil {
		return nil, err
	}
	keys, err := d.count("metadata keys", ggufMaxKeys)
	if err != nil {
		return nil, err
	}
	file := &gguf{meta: map[string]any{}}
	for range keys {
		if err := d.pair(file.meta); err != nil {
			return nil, err
		}
	}
	infos, err := d.tensors(tensors)
	if err != nil {
		return nil, err
	}
	alignment, ok := file.int("general.alignment")
	if !ok {
		alignment = 32
	}
	if alignment <= 0 || alignment > 1<<20 || bits.OnesCount64(uint64(alignment)) != 1 {
		return nil, fmt.Errorf("alignment %d is not a power of 2", alignment)
	}
	data := (d.at + alignment - 1) / alignment * alignment
	if err := checkExtents(infos, data, d.size); err != nil {
		return nil, err
	}
	return file, nil
}

func checkExtents(infos []tensorInfo, data, size int64) error {
	for _, t := range infos {
		if t.offset > uint64(size) || t.bytes > uint64(size) || data+int64(t.offset)+int64(t.bytes) > size {
			return fmt.Errorf("the file ends before the end of tensor %q: it has %d bytes and needs %d more",
				t.name, size, needed(t, data)-uint64(size))
		}
	}
	return nil
}

// needed saturates: a hostile offset must not wrap around.
func needed(t tensorInfo, data int64) uint64 {
	sum, carry := bits.Add64(t.offset, t.bytes, 0)
	total, carry2 := bits.Add64(sum, uint64(data), 0)
	if carry+carry2 > 0 {
		return math.MaxUint64
	}
	return total
}

func (d *ggufReader) pair(meta map[string]any) error {
	d.place = "the metadata"
	key, err := d.string(ggufMaxName)
	if err != nil {
		return err
	}
	d.place = fmt.Sprintf("metadata key %q", key)
	kind, err := d.uint(4)
	if err != nil {
		return err
	}
	if _, ok := meta[key]; ok {
		return fmt.Errorf("metadata key %q is there twice", key)
	}
	value, err := d.value(kind, key)
	if err != nil {
		return err
	}
	meta[key] = value
	return nil
}

func (d *ggufReader) value(kind uint64, key string) (any, error) {
	switch kind {
	case ggufString:
		return d.string(ggufMaxString)
	case ggufArray:
		return d.array(key)
	}
	width := scalarWidth(kind)
	if width == 0 {
		return nil, fmt.Errorf("metadata key %q has the unknown type %d", key, kind)
	}
	raw, err := d.uint(width)
	if err != nil {
		return nil, err
	}
	return scalar(kind, raw), nil
}

func scalarWidth(kind uint64) int {
	switch kind {
	case ggufUint8, ggufInt8, ggufBool:
		return 1
	case ggufUint16, ggufInt16:
		return 2
	case ggufUint32, ggufInt32, ggufFloat32:
		return 4
	case ggufUint64, ggufInt64, ggufFloat64:
		return 8
	}
	return 0
}

func scalar(kind, raw uint64) any {
	switch kind {
	case ggufInt8:
		return int64(int8(raw))
	case ggufInt16:
		return int64(int16(raw))
	case ggufInt32:
		return int64(int32(raw))
	case ggufInt64:
		return int64(raw)
	case ggufFloat32:
		return float64(math.Float32frombits(uint32(raw)))
	case ggufFloat64:
		return math.Float64frombits(raw)
	case ggufBool:
		return raw != 0
	}
	return raw
}

// array keeps short arrays of scalars. Long ones, and strings, are the
// vocabulary: llama.cpp reads it itself.
func (d *ggufReader) array(key string) (any, error) {
	kind, err := d.uint(4)
	if err != nil {
		return nil, err
	}
	n, err := d.uint(8)
	if err != nil {
		return nil, err
	}
	if kind == ggufString {
		// The shortest string is its 8 bytes of length.
		if n > uint64(d.size)/8 {
			return nil, io.ErrUnexpectedEOF
		}
		for range n {
			if err := d.skipString(); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	width := scalarWidth(kind)
	if width == 0 {
		return nil, fmt.Errorf("metadata key %q is an array of the unknown type %d", key, kind)
	}
	if n > uint64(d.size)/uint64(width) {
		return nil, io.ErrUnexpectedEOF
	}
	if n > ggufKeepArray {
		return nil, d.skip(int64(n) * int64(width))
	}
	values := make([]any, 0, n)
	for range n {
		raw, err := d.uint(width)
		if err != nil {
			return nil, err
		}
		values = append(values, scalar(kind, raw))
	}
	return values, nil
}

type tensorInfo struct {
	name   string
	offset uint64 // from the start of the data
	bytes  uint64 // 0 where the type is unknown; llama.cpp refuses it by name
}

func (d *ggufReader) tensors(n uint64) ([]tensorInfo, error) {
	d.place = "the list of tensors"
	var infos []tensorInfo
	for range n {
		info, err := d.tensor()
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (d *ggufReader) tensor() (tensorInfo, error) {
	name, err := d.string(ggufMaxName)
	if err != nil {
		return tensorInfo{}, err
	}
	dims, err := d.uint(4)
	if err != nil {
		return tensorInfo{}, err
	}
	if dims > 4 {
		return tensorInfo{}, fmt.Errorf("tensor %q has %d dimensions", name, dims)
	}
	elements := uint64(1)
	for range dims {
		n, err := d.uint(8)
		if err != nil {
			return tensorInfo{}, err
		}
		over, product := bits.Mul64(elements, n)
		if over != 0 || product > math.MaxInt64 {
			return tensorInfo{}, fmt.Errorf("tensor %q has more elements than fit", name)
		}
		elements = product
	}
	kind, err := d.uint(4)
	if err != nil {
		return tensorInfo{}, err
	}
	offset, err := d.uint(8)
	if err != nil {
		return tensorInfo{}, err
	}
	info := tensorInfo{name: name, offset: offset}
	if b, ok := tensorBlocks[kind]; ok {
		info.bytes = elements / b.elements * b.bytes
	}
	return info, nil
}

// tensorBlocks says, for each type of tensor, how many elements share a
// block and how many bytes a block has. The numbers are ggml's.
var tensorBlocks = map[uint64]struct{ elements, bytes uint64 }{
	0:  {1, 4},     // F32
	1:  {1, 2},     // F16
	2:  {32, 18},   // Q4_0
	3:  {32, 20},   // Q4_1
	6:  {32, 22},   // Q5_0
	7:  {32, 24},   // Q5_1
	8:  {32, 34},   // Q8_0
	9:  {32, 36},   // Q8_1
	10: {256, 84},  // Q2_K
	11: {256, 110}, // Q3_K
	12: {256, 144}, // Q4_K
	13: {256, 176}, // Q5_K
	14: {256, 210}, // Q6_K
	15: {256, 292}, // Q8_K
	16: {256, 66},  // IQ2_XXS
	17: {256, 74},  // IQ2_XS
	18: {256, 98},  // IQ3_XXS
	19: {256, 50},  // IQ1_S
	20: {32, 18},   // IQ4_NL
	21: {256, 110}, // IQ3_S
	22: {256, 82},  // IQ2_S
	23: {256, 136}, // IQ4_XS
	24: {1, 1},     // I8
	25: {1, 2},     // I16
	26: {1, 4},     // I32
	27: {1, 8},     // I64
	28: {1, 8},     // F64
	29: {256, 56},  // IQ1_M
	30: {1, 2},     // BF16
	34: {256, 54},  // TQ1_0
	35: {256, 66},  // TQ2_0
	39: {32, 17},   // MXFP4
}

func (d *ggufReader) count(what string, limit uint64) (uint64, error) {
	n, err := d.uint(8)
	if err == nil && n > limit {
		err = fmt.Errorf("the header claims %d %s", n, what)
	}
	return n, err
}

func (d *ggufReader) uint(width int) (uint64, error) {
	buf := d.scratch[:width]
	n, err := io.ReadFull(d.r, buf)
	d.at += int64(n)
	if err != nil {
		return 0, err
	}
	clear(d.scratch[width:])
	return binary.LittleEndian.Uint64(d.scratch[:]), nil
}

func (d *ggufReader) bytes(n int) ([]byte, error) {
	buf := make([]byte, n)
	read, err := io.ReadFull(d.r, buf)
	d.at += int64(read)
	return buf, err
}

func (d *ggufReader) string(limit uint64) (string, error) {
	n, err := d.uint(8)
	if err != nil {
		return "", err
	}
	if n > uint64(d.size) {
		return "", io.ErrUnexpectedEOF
	}
	if n > limit {
		return "", fmt.Errorf("a string of %d bytes in %s", n, d.place)
	}
	buf, err := d.bytes(int(n))
	return string(buf), err
}

func (d *ggufReader) skipString() error {
	n, err := d.uint(8)
	if err != nil {
		return err
	}
	if n > uint64(d.size) {
		return io.ErrUnexpectedEOF
	}
	return d.skip(int64(n))
}

func (d *ggufReader) skip(n int64) error {
	skipped, err := io.CopyN(io.Discard, d.r, n)
	d.at += skipped
	return err
}

// string, int and float look a key up; a value of another type is as absent.
func (g *gguf) string(key string) string {
	s, _ := g.meta[key].(string)
	return s
}

func (g *gguf) int(key string) (int64, bool) { return asInt(g.meta[key]) }

func asInt(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(min(v, math.MaxInt64)), true
	}
	return 0, false
}

func (g *gguf) float(key string) (float64, bool) {
	if f, ok := g.meta[key].(float64); ok {
		return f, true
	}
	n, ok := g.int(key)
	return float64(n), ok
}

// arch looks a key up under the name of the model's architecture.
func (g *gguf) arch(key string) (int64, bool) {
	return g.int(g.string("general.architecture") + "." + key)
}
