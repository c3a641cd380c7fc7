package safetensors

import (
	"encoding/binary"
	"encoding/json/v2"
	"fmt"
	"io"
)

// Data is a tensor with its bytes, for [Write].
type Data struct {
	Name  string
	Type  string
	Shape []int64
	Bytes []byte // little-endian
}

// Write writes a file with the tensors in their order.
func Write(out io.Writer, tensors []Data) error {
	header := map[string]entry{}
	var end uint64
	for _, t := range tensors {
		if _, ok := header[t.Name]; ok {
			return fmt.Errorf("tensor %q is there twice", t.Name)
		}
		start := end
		end += uint64(len(t.Bytes))
		header[t.Name] = entry{Type: t.Type, Shape: t.Shape, Offsets: [2]uint64{start, end}}
	}
	text, err := json.Marshal(header, json.Deterministic(true))
	if err != nil {
		return err
	}
	for len(text)%prefixSize != 0 { // data are aligned, as the format asks for
		text = append(text, ' ')
	}
	if _, err := out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(text)))); err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := out.Write(t.Bytes); err != nil {
			return err
		}
	}
	return nil
}
