package upstream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/json/jsontext"
	"fmt"
	"unicode/utf8"

	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/internal/plainjson"
)

// Memory that a reply needs, in bytes.
const (
	// byteWeight is per byte read: itself, the growing buffer, and decoded strings.
	byteWeight = 3

	// invalidWeight is extra, per byte of invalid UTF-8, which becomes U+FFFD.
	invalidWeight = 6

	// valueWeight is per JSON value: {} in an array may decode to a struct of 200
	// bytes, and slices grow by copying.
	valueWeight = 512

	// numberWeight is the same if the arrays kept are of numbers.
	numberWeight = 24

	// smallValues is the memory that decoding may use without a reservation: for a
	// chunk of some tokens.
	smallValues = 32 << 10
)

// reserve reserves memory for decoding text, and reports whether it succeeded. The
// memory is reused for later texts, and released at the end of the reply.
func (r *reply) reserve(text []byte) bool {
	n := decodedSize(text, cmp.Or(r.op.each, valueWeight))
	more := n - max(r.decoded, smallValues)
	if more <= 0 {
		return true
	}
	r.decoded = n
	return r.share.Reserve(int64(more))
}

// decodedSize is an upper bound of the memory of text's decoded values, beside what
// is proportional to its length.
func decodedSize(text []byte, each int) int {
	n := each * plainjson.Values(text)
	if !utf8.Valid(text) {
		n += invalidWeight * len(text)
	}
	return n
}

// firstElement returns the first element of an array, or nil, without reading the rest.
func firstElement(list []byte) json.RawMessage {
	values := valuesOf(list)
	if _, err := values.ReadToken(); err != nil || values.PeekKind() == ']' {
		return nil
	}
	value, err := values.ReadValue()
	if err != nil {
		return nil
	}
	return json.RawMessage(value)
}

// valuesOf returns a decoder that is as tolerant as encoding/json.
func valuesOf(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// length is the number of elements of an array.
type length int

// UnmarshalJSON implements [json.Unmarshaler]. Anything else has length 0.
func (l *length) UnmarshalJSON(b []byte) error {
	values := valuesOf(b)
	if kind := values.PeekKind(); kind != '[' {
		return nil
	}
	_, err := values.ReadToken()
	for err == nil && values.PeekKind() != ']' {
		err = values.SkipValue()
		*l++
	}
	return err
}

// maxVectors limits the vectors of a reply to the most inputs of a request.
const maxVectors = 2048

// vectors are those of a reply. Some servers omit the index.
type vectors []vector

type vector struct {
	Index     *count               `json:"index"`
	Embedding wire.EmbeddingVector `json:"embedding"`
}

// UnmarshalJSON implements [json.Unmarshaler]. It decodes one vector at a time,
// to spend no memory on those over the limit.
func (v *vectors) UnmarshalJSON(b []byte) error {
	values := valuesOf(b)
	if kind := values.PeekKind(); kind != '[' {
		return nil
	}
	_, err := values.ReadToken()
	for err == nil && values.PeekKind() != ']' {
		if len(*v) == maxVectors {
			return fmt.Errorf("it has more than %d vectors", maxVectors)
		}
		var next jsontext.Value
		if next, err = values.ReadValue(); err == nil {
			*v = append(*v, vector{})
			err = json.Unmarshal(next, &(*v)[len(*v)-1])
		}
	}
	return err
}
