package cassette

import (
	"encoding/json/jsontext"
	"net/url"
)

// Key is the same for two requests if, and only if, they ask for the same:
// method, path, query in any order, and body as a JSON value. A body that is not
// JSON is compared by its bytes, and headers are not compared.
func Key(r Request) string {
	address := r.URL
	if u, err := url.Parse(r.URL); err == nil {
		address = u.EscapedPath() + "?" + u.Query().Encode()
	}
	return r.Method + " " + address + "\n" + value(r.Body)
}

// value is one text for all spellings of a JSON value. Whole numbers keep their
// digits, which may be more than a float64 has.
func value(body string) string {
	text := jsontext.Value(body)
	if text.Format(jsontext.ReorderRawObjects(true), jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawFloats(true), jsontext.AllowDuplicateNames(false)) != nil {
		return body
	}
	return string(text)
}
