package export

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// letters is a document with one field, to which tests add another.
const letters = `
openapi: 3.2.0
info: {title: Letters, version: "1", description: Letters.}
paths:
  /letters:
    post:
      operationId: write
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Letter'}
            examples:
              plain: {value: {to: Ann}}
              added: {value: {to: Ann, added: 2}}
      responses:
        '200':
          description: The letter.
          content:
            application/json:
              schema: {$ref: '#/components/schemas/Letter'}
components:
  schemas:
    Letter:
      type: object
      required: [to]
      properties:
        to: {type: string}
        added: ADDED
`

// TestAddedField adds a field with a mark to a document and finds it in the export, with no
// other edit.
func TestAddedField(t *testing.T) {
	for _, tt := range []struct {
		name, field   string
		input, output string // in the export; output is empty where it is left out
		examples      []string
	}{
		{name: "plain", field: `{type: integer, format: int32}`,
			input:  `{"type":["integer","null"],"format":"int32","minimum":-2147483648,"maximum":2147483647}`,
			output: `{"type":"integer","format":"int32"}`, examples: []string{"added", "plain"}},
		{name: "refused", field: `{type: integer, x-support: {document: supported, server: refused, note: No.}}`,
			input: `{"description":"Not supported: No.","type":"null","x-support":{"document":"supported","server":"refused"}}`, examples: []string{"plain"}},
		{name: "ignored", field: `{type: integer, x-support: {document: supported, server: ignored, note: No.}}`,
			input:    `{"description":"Has no effect: No.","x-support":{"document":"supported","server":"ignored"}}`,
			output:   `{"type":"integer","x-support":{"document":"supported","server":"ignored","note":"No."}}`,
			examples: []string{"added", "plain"}},
		{name: "partial", field: `{type: integer, minimum: 0, x-support: {document: supported, server: partial, only: {maximum: 1}, note: No.}}`,
			input:    `{"type":["integer","null"],"minimum":0,"x-support":{"document":"supported","server":"partial","only":{"maximum":1},"note":"No."},"maximum":1}`,
			output:   `{"type":"integer","minimum":0,"x-support":{"document":"supported","server":"partial","only":{"maximum":1},"note":"No."}}`,
			examples: []string{"plain"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := openapi.Load([]byte(strings.Replace(letters, "ADDED", tt.field, 1)))
			if err != nil {
				t.Fatal(err)
			}
			input, output, examples := added(t, d)
			if input != tt.input {
				t.Errorf("input:\n%s\nwant\n%s", input, tt.input)
			}
			if output != tt.output {
				t.Errorf("output:\n%s\nwant\n%s", output, tt.output)
			}
			if !slices.Equal(examples, tt.examples) {
				t.Errorf("examples %v, want %v", examples, tt.examples)
			}
		})
	}
}

// added returns the field that was added as requests and replies have it, and the names of
// the examples.
func added(t *testing.T, d *openapi.Document) (input, output string, examples []string) {
	t.Helper()
	exported, err := New(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := exported.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Examples map[string]any }
				}
			}
		}
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for name := range document.Paths["/letters"].Post.RequestBody.Content["application/json"].Examples {
		examples = append(examples, name)
	}
	slices.Sort(examples)
	field := func(component string) string {
		var b bytes.Buffer
		if raw := document.Components.Schemas[component].Properties["added"]; raw != nil {
			if err := json.Compact(&b, raw); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	return field("Letter-Input"), field("Letter-Output"), examples
}
