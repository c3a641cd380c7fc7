// Constructors generates, from a document and the types of oapi-codegen:
//
//   - for each object in replies and events a constructor. It takes the required
//     fields, except those with a single possible value, a default, null or an empty
//     list, which it sets;
//
//   - for each request field with a default a method that returns the value or the
//     default.
//
//     go run ./tools/constructors DOCUMENT TYPES OUT
package main

import (
	"fmt"
	"os"

	"github.com/diglot/diglot/openapi"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: constructors DOCUMENT TYPES OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "constructors:", err)
		os.Exit(1)
	}
}

func run(document, types, out string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	d, err := openapi.Load(text)
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	source, err := os.ReadFile(types)
	if err != nil {
		return err
	}
	code, err := generate(d, source)
	if err != nil {
		return fmt.Errorf("%s: %w", types, err)
	}
	return os.WriteFile(out, code, 0o644)
}
