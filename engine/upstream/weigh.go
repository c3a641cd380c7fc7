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

// What a reply takes in memory, in bytes.
const (
	// weight is for each byte that is held: for itself, for the buffer that grows
	// around it, and for the texts that are decoded from it.
	weight = 3

	// wrongWeight is for each byte beside it where a text is no UTF-8: what is
	// wrong becomes U+FFFD, which has three.
	wrongWeight = 6

	// valueWeight is for each value: {} in a list may stand for a structure of
	// 200 bytes, and lists grow by being copied.
	valueWeight = 512

	// numberWeight is the same where lists are of numbers, and no others are kept.
	numberWeight = 24

	// smallValues is what decoding may take that nothing is reserved for: a chunk
	// of some tokens.
	smallValues = 32 << 10
)

// weigh reserves memory for what a text is decoded to, before it is decoded, and
// reports whether there is so much. It is not given back before the reply has
// ended, but serves the texts that follow.
func (r *reply) weigh(text []byte) bool {
	n := valuesSize(text, cmp.Or(r.op.each, valueWeight))
	more := n - max(r.decoded, smallValues)
	if more <= 0 {
		return true
	}
	r.decoded = n
	return r.share.Reserve(int64(more))
}

// valuesSize is how many bytes the values of a text are decoded to at most, beside
// those that its own length tells.
func valuesSize(text []byte, each int) int {
	n := each * plainjson.Values(text)
	if !utf8.Valid(text) {
		n += wrongWeight * len(text)
	}
	return n
}

// first is the first value of a list, and nil of an empty one. The others are
// not read.
func first(list []byte) json.RawMessage {
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

// valuesOf reads a text as tolerantly as encoding/json does, value by value.
func valuesOf(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// length is how many values a list has.
type length int

// UnmarshalJSON implements [json.Unmarshaler]. What is no list has no values.
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

// maxVectors is the most vectors that are read of a reply: as many as one
// request may have inputs.
const maxVectors = 2048

// vectors are those of a reply, in which an index may be left out.
type vectors []vector

type vector struct {
	Index     *count               `json:"index"`
	Embedding wire.EmbeddingVector `json:"embedding"`
}

// UnmarshalJSON implements [json.Unmarshaler]. One that is read for each that
// comes takes no memory for those that are too many.
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
