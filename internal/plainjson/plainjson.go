// Package plainjson writes JSON in which nothing is escaped that JSON itself
// does not ask to be. What encoding/json writes by default is for pages of
// HTML: models, clients and people would read \u003c where a text has "<".
// And it counts what a text of JSON holds.
package plainjson

import (
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
)

// Marshal encodes v as encoding/json does, but for such escapes: it writes
// none, and takes back those that methods of v have written. Options such as
// [jsontext.WithIndent] may be added.
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
