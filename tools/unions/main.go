// Command unions has generated types keep the JSON of a request instead of
// copying it, once for each union in each other: a message that holds parts
// that hold text would be there four times.
//
//	go run ./tools/unions FILE
//
// It rewrites a file of oapi-codegen: a request is bound from the bytes that
// were checked, which nobody changes, and a union that is read from such bytes
// is a part of them. Whoever decodes by [encoding/json] gets a copy, as ever.
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

// changes are what is replaced; each must be there.
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

// helpers stand at the end of the file.
const helpers = `
// keeper is a union that may keep the JSON which it is read from.
type keeper interface{ keep(b []byte) }

var keepers = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, u keeper) error {
	b, err := d.ReadValue()
	if err == nil {
		u.keep(b)
	}
	return err
}))

// keepUnions decodes JSON that is not changed as long as v lives.
func keepUnions(b []byte, v any) error {
	return jsonv2.Unmarshal(b, v, json.DefaultOptionsV1(), keepers)
}

// bindBody binds a body that has its bytes at hand without reading them once
// more.
func bindBody(r *http.Request, v any) error {
	if body, ok := r.Body.(interface{ Bytes() []byte }); ok {
		return keepUnions(body.Bytes(), v)
	}
	return runtime.BindJSONBody(r, v)
}
`

func keep(source []byte) ([]byte, error) {
	if bytes.Contains(source, []byte("func keepUnions")) {
		return nil, errors.New("it was rewritten before; generate it anew")
	}
	for _, c := range changes {
		if !c.find.Match(source) {
			return nil, fmt.Errorf("%s is not written as it was; see what the generator makes now", c.what)
		}
		source = c.find.ReplaceAll(source, []byte(c.with))
	}
	return format.Source(append(source, helpers...))
}
