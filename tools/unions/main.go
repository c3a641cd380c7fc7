// Command unions makes generated types keep the JSON of a request instead of copying
// it for each level of nested unions: the text of a message would be in memory four
// times.
//
//	go run ./tools/unions FILE
//
// It rewrites the output of oapi-codegen: a request is bound from the validated bytes,
// which nobody changes, and its unions are slices of them. Decoding by
// [encoding/json] still copies.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"os"
	"regexp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: unions FILE")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "unions:", err)
		os.Exit(1)
	}
}

func rewrite(file string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	rewritten, err := keep(source)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, rewritten, 0o644)
}

// changes are the replacements; each must match.
var changes = []struct {
	what string
	find *regexp.Regexp
	with string
}{
	{"the binding of bodies", regexp.MustCompile(`runtime\.BindJSONBody\(r, &body\)`), "bindBody(r, &body)"},
	{"the reading of unions", regexp.MustCompile(`err := json\.Unmarshal\(t\.union, &body\)`), "err := keepUnions(t.union, &body)"},
	{"the decoding of unions", regexp.MustCompile(`(?m)^func \(t \*(\w+)\) UnmarshalJSON\(b \[\]byte\) error \{\n\terr := t\.union\.UnmarshalJSON\(b\)\n\treturn err\n\}\n`),
		"$0\nfunc (t *$1) keep(b []byte) { t.union = b }\n"},
	{"the imports", regexp.MustCompile(`(?m)^\t"encoding/json"\n`), "$0\t\"encoding/json/jsontext\"\n\tjsonv2 \"encoding/json/v2\"\n"},
}

// helpers are appended to the file.
const helpers = `
// keeper is a union that may keep the JSON that it is decoded from.
type keeper interface{ keep(b []byte) }

var keepers = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, u keeper) error {
	b, err := d.ReadValue()
	if err == nil {
		u.keep(b)
	}
	return err
}))

// keepUnions decodes JSON that must not change while v is in use.
func keepUnions(b []byte, v any) error {
	return jsonv2.Unmarshal(b, v, json.DefaultOptionsV1(), keepers)
}

// bindBody binds a body without reading its bytes again if it has them in memory.
func bindBody(r *http.Request, v any) error {
	if body, ok := r.Body.(interface{ Bytes() []byte }); ok {
		return keepUnions(body.Bytes(), v)
	}
	return runtime.BindJSONBody(r, v)
}
`

func keep(source []byte) ([]byte, error) {
	if bytes.Contains(source, []byte("func keepUnions")) {
		return nil, errors.New("it is already rewritten; generate it again")
	}
	for _, c := range changes {
		if !c.find.Match(source) {
			return nil, fmt.Errorf("%s not found; the output of the generator has changed", c.what)
		}
		source = c.find.ReplaceAll(source, []byte(c.with))
	}
	return format.Source(append(source, helpers...))
}
