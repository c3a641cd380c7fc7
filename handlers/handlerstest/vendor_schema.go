package handlerstest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// betaQuery ends the key of a vendor's beta variant of an operation.
const betaQuery = "?beta=true"

// part is what a value is in an operation.
type part string

const (
	partReply part = "reply"
	partEvent part = "event"
	partError part = "error"
)

// place identifies what a value was sent as.
type place struct {
	style, route string
	part         part
}

func (p place) String() string { return fmt.Sprintf("%s, %s, %s", p.style, p.route, p.part) }

// vendor holds one vendor's compiled reply schemas.
type vendor struct {
	operations map[string]map[part]*vendorSchema // by method and our path
}

// vendorFile is a vendor's document reduced to replies. The key of an operation is its
// method and its path without /v1; its values are names of components.
type vendorFile struct {
	Operations map[string]struct {
		Reply  string  `json:"reply"`
		Stream *string `json:"stream"`
		Error  string  `json:"error"`
	} `json:"ops"`
	Components any `json:"components"`
}

// loadVendor reads STYLE.json.gz in a folder. Closed schemas are opened: a reader that
// rejects new fields would reject the vendor's next version.
func loadVendor(folder, style string) (*vendor, error) {
	path := filepath.Join(folder, style+".json.gz")
	compressed, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer compressed.Close()
	text, err := gzip.NewReader(compressed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var file vendorFile
	decoder := json.NewDecoder(text)
	decoder.UseNumber()
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	open(file.Components)
	v, err := compileVendor(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// open removes additionalProperties: false from a schema and all in it.
func open(schema any) {
	switch schema := schema.(type) {
	case map[string]any:
		if schema["additionalProperties"] == false {
			delete(schema, "additionalProperties")
		}
		for _, inner := range schema {
			open(inner)
		}
	case []any:
		for _, inner := range schema {
			open(inner)
		}
	}
}

func compileVendor(file vendorFile) (*vendor, error) {
	const base = "vendor.json"
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(base, map[string]any{"components": file.Components}); err != nil {
		return nil, err
	}
	v := &vendor{operations: map[string]map[part]*vendorSchema{}}
	for key, operation := range file.Operations {
		method, path, ok := strings.Cut(key, " ")
		if !ok {
			return nil, fmt.Errorf("operation %q is no method and path", key)
		}
		names := map[part]string{partReply: operation.Reply, partError: operation.Error}
		if operation.Stream != nil {
			names[partEvent] = *operation.Stream
		}
		schemas := map[part]*vendorSchema{}
		for part, name := range names {
			schema, err := compiler.Compile(base + "#/components/schemas/" + name)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", key, part, err)
			}
			schemas[part] = &vendorSchema{schema}
		}
		v.operations[method+" /v1"+path] = schemas
	}
	if len(v.operations) == 0 {
		return nil, fmt.Errorf("holds no operation")
	}
	return v, nil
}

func (v *vendor) has(key string) bool { return v.operations[key] != nil }

// schema returns nil if the vendor has no such part. Errors without operation are those of
// any operation.
func (v *vendor) schema(key string, part part) *vendorSchema {
	if schemas, ok := v.operations[key]; ok || part != partError {
		return schemas[part]
	}
	for _, schemas := range v.operations {
		return schemas[partError]
	}
	return nil
}

type vendorSchema struct{ compiled *jsonschema.Schema }

// vendorViolation is one violation in a value.
type vendorViolation struct {
	at   []string // path in the value; a missing field is included
	rule string   // the keyword of the schema
	kind jsonschema.ErrorKind
}

func (v vendorViolation) String() string {
	return fmt.Sprintf("/%s breaks %s", strings.Join(v.at, "/"), v.rule)
}

// check returns the violations of a JSON text.
func (s *vendorSchema) check(text []byte) ([]vendorViolation, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	err = s.compiled.Validate(value)
	if err == nil {
		return nil, nil
	}
	failure, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return nil, err
	}
	return leaves(failure), nil
}

// leaves returns the innermost failures. Of a union, only the member that the value was
// meant to be counts.
func leaves(e *jsonschema.ValidationError) []vendorViolation {
	switch kind := e.ErrorKind.(type) {
	case *kind.Required:
		var all []vendorViolation
		for _, name := range kind.Missing {
			all = append(all, vendorViolation{append(slices.Clone(e.InstanceLocation), name), "required", kind})
		}
		return all
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return meant(e)
		}
	}
	if len(e.Causes) == 0 {
		return []vendorViolation{{e.InstanceLocation, strings.Join(e.ErrorKind.KeywordPath(), "/"), e.ErrorKind}}
	}
	var all []vendorViolation
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// meant returns the failures of the best matching union member: by type, then by tags
// (fields like type or role with one value), then by missing fields, then by the number of
// failures.
func meant(e *jsonschema.ValidationError) []vendorViolation {
	var best []vendorViolation
	lowest := -1
	for _, cause := range e.Causes {
		found := leaves(cause)
		score := len(found)
		for _, v := range found {
			switch depth := len(v.at) - len(e.InstanceLocation); {
			case depth == 0 && v.rule == "type":
				score += 1_000_000
			case depth == 1 && (v.rule == "const" || v.rule == "enum"):
				score += 10_000
			case depth == 1 && v.rule == "required":
				score += 100
			}
		}
		if lowest < 0 || score < lowest {
			best, lowest = found, score
		}
	}
	return best
}
