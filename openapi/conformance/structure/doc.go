// Package structure has the promises of a server about answers with a structure, and about
// text that looks like structure: calls of tools, JSON that follows a schema, and spellings
// of control tokens, templates and markup that must stay text.
package structure

import (
	"bytes"
	"encoding/json/v2"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// All returns the scenarios.
func All() []conformance.Scenario {
	return slices.Concat(choices(), arguments(), loops(), schemas(), formats(), texts(), consts())
}

func callsTools(d dialect.Dialect) bool    { return d.Tools }
func followsSchema(d dialect.Dialect) bool { return d.Schemas }

// fits says how a JSON text deviates from a schema.
func fits(schema any, text string) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	written, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(written))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", decoded); err != nil {
		return err
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}

// object and list keep tables of schemas short.
type (
	object = map[string]any
	list   = []any
)
