package openapi

import (
	"encoding/json/v2"
	"fmt"
	"math"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/diglot/diglot/internal/plainjson"
)

// Bodies limits all request bodies of a document, free-form JSON included.
type Bodies struct {
	Depth  int `json:"depth"`  // nesting of arrays and objects
	Values int `json:"values"` // values and field names

	repeats bool // an object may have a field twice
}

const bodiesExtension = "x-bodies"

// unbounded is for JSON that the server itself has written.
var unbounded = Bodies{Depth: 512, Values: math.MaxInt32}

// sent is for JSON in replies: a model may repeat a field in the arguments of a
// call.
var sent = Bodies{Depth: math.MaxInt32, Values: math.MaxInt32, repeats: true}

// readBodies reads the limits of a document, which has both or none.
func readBodies(spec *openapi3.T) (Bodies, error) {
	written, ok := spec.Extensions[bodiesExtension]
	if !ok {
		return unbounded, nil
	}
	var b Bodies
	text, err := json.Marshal(written)
	if err == nil {
		err = json.Unmarshal(text, &b, json.RejectUnknownMembers(true))
	}
	if err == nil && (b.Depth < 1 || b.Values < 1) {
		err = fmt.Errorf("it needs depth and values, of at least 1")
	}
	if err != nil {
		return Bodies{}, fmt.Errorf("openapi: %s: %w", bodiesExtension, err)
	}
	return b, nil
}

// CountValues returns how many values and field names a JSON text holds, or a few more. It
// is fast and does not allocate.
func CountValues(text []byte) int {
	values, names := plainjson.Count(text)
	return values + names
}
