package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
)

const (
	prefixSize = 8

	// maxHeader is the limit of the format's own library, in bytes.
	maxHeader = 100_000_000

	// maxTensors is far above what models have.
	maxTensors = 1 << 16

	// maxDimensions is what ggml-based engines can hold.
	maxDimensions = 5

	metadataKey = "__metadata__"
)

// File is the header of a file.
type File struct {
	Tensors  []Tensor // by name
	Metadata map[string]string
	Size     int64 // of the file, in bytes
}

// Tensor describes a tensor.
type Tensor struct {
	Name  string
	Type  string // such as "F16"
	Shape []int64
	Size  int64 // in bytes
}

// width has the bytes of one element.
var width = map[string]uint64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1,
	"I16": 2, "U16": 2, "F16": 2, "BF16": 2,
	"I32": 4, "U32": 4, "F32": 4,
	"I64": 8, "U64": 8, "F64": 8,
}

// entry is a tensor in the header.
type entry struct {
	Type    string    `json:"dtype"`
	Shape   []int64   `json:"shape"`
	Offsets [2]uint64 `json:"data_offsets"` // start and end in the data
}

// Open reads the header of a file. Errors do not contain the path.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, reason(err)
	}
	return Read(file, info.Size())
}

func reason(err error) error {
	var failed *os.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Detect reports whether the first bytes of a file can be the start of a
// safetensors file.
func Detect(start []byte) bool {
	return len(start) > prefixSize && start[prefixSize] == '{' && binary.LittleEndian.Uint64(start) <= maxHeader
}

// Read reads the header of a file of size bytes.
func Read(in io.Reader, size int64) (*File, error) {
	prefix := make([]byte, prefixSize)
	if _, err := io.ReadFull(in, prefix); err != nil {
		return nil, errors.New("the file is too short for a safetensors file")
	}
	length := binary.LittleEndian.Uint64(prefix)
	if length > maxHeader || int64(length) > size-prefixSize {
		return nil, fmt.Errorf("the header of %d bytes is longer than the file or than %d bytes", length, maxHeader)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, fmt.Errorf("the header is cut: %w", err)
	}
	return parse(header, uint64(size)-prefixSize-length, size)
}

// parse parses a header before data bytes of data.
func parse(header []byte, data uint64, size int64) (*File, error) {
	f := &File{Size: size}
	var entries map[string]jsontext.Value
	if err := json.Unmarshal(header, &entries); err != nil { // refuses duplicate names
		return nil, fmt.Errorf("the header is not a JSON object: %w", err)
	}
	if len(entries) > maxTensors {
		return nil, fmt.Errorf("the header has more than %d tensors", maxTensors)
	}
	var all []placed
	for name, text := range entries {
		if name == metadataKey {
			if err := json.Unmarshal(text, &f.Metadata); err != nil {
				return nil, fmt.Errorf("the metadata are not texts: %w", err)
			}
			continue
		}
		p, err := place(name, text, data)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if err := checkOverlap(all); err != nil {
		return nil, err
	}
	for _, p := range all {
		f.Tensors = append(f.Tensors, p.Tensor)
	}
	slices.SortFunc(f.Tensors, func(a, b Tensor) int { return cmp.Compare(a.Name, b.Name) })
	return f, nil
}

// placed is a tensor with its place in the data.
type placed struct {
	Tensor
	start, end uint64
}

// place checks one tensor.
func place(name string, text jsontext.Value, data uint64) (placed, error) {
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return placed{}, fmt.Errorf("tensor %q: %w", name, err)
	}
	size, ok := width[e.Type]
	if !ok {
		return placed{}, fmt.Errorf("tensor %q is of the unknown type %q", name, e.Type)
	}
	if len(e.Shape) > maxDimensions {
		return placed{}, fmt.Errorf("tensor %q has more than %d dimensions", name, maxDimensions)
	}
	for _, n := range e.Shape {
		high, low := bits.Mul64(size, uint64(n))
		if n < 0 || high != 0 {
			return placed{}, fmt.Errorf("tensor %q has the impossible shape %v", name, e.Shape)
		}
		size = low
	}
	start, end := e.Offsets[0], e.Offsets[1]
	if start > end || end > data || end-start != size {
		return placed{}, fmt.Errorf("tensor %q of %d bytes has the offsets %d and %d in %d bytes of data", name, size, start, end, data)
	}
	return placed{Tensor{Name: name, Type: e.Type, Shape: e.Shape, Size: int64(size)}, start, end}, nil
}

// checkOverlap fails if two tensors share bytes.
func checkOverlap(all []placed) error {
	slices.SortFunc(all, func(a, b placed) int {
		if c := cmp.Compare(a.start, b.start); c != 0 {
			return c
		}
		return cmp.Compare(a.end, b.end)
	})
	for i := 1; i < len(all); i++ {
		if all[i].start < all[i-1].end {
			return fmt.Errorf("the tensors %q and %q overlap", all[i-1].Name, all[i].Name)
		}
	}
	return nil
}
