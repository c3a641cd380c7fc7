// Package plainjson writes JSON without encoding/json's HTML escapes, such as
// \u003c for "<", which would confuse models, clients and people. It also counts
// the values of a JSON text.
package plainjson

import (
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
)

// Marshal is like json.Marshal without HTML escapes. It also removes those that
// MarshalJSON methods wrote.
func Marshal(v any, options ...jsonv2.Options) ([]byte, error) {
	plain := jsonv2.JoinOptions(json.DefaultOptionsV1(),
		jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false), jsontext.PreserveRawStrings(false))
	return jsonv2.Marshal(v, append([]jsonv2.Options{plain}, options...)...)
}

// Quote is the JSON text of a string.
func Quote(s string) string {
	b, _ := Marshal(s) // a string cannot fail
	return string(b)
}
