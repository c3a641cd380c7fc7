// Command constructors writes functions for what a document fixes, beside the
// types that oapi-codegen has made of it:
//
//   - for each object of replies and events a constructor, which takes the required
//     members and sets those that can hold one value only, have a default, or are
//     null or empty until somebody sets them;
//   - for each member of a request that has a default a method with its value.
//
// It reads the document and the generated types.
//
//	go run ./tools/constructors DOCUMENT TYPES OUT
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
