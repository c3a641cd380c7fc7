package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compareTestdata compares the small documents in testdata.
func compareTestdata(t *testing.T) compared {
	t.Helper()
	ours, err := readDocument("testdata/ours.yaml")
	if err != nil {
		t.Fatal(err)
	}
	vendor, err := readDocument("testdata/vendor.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := compareDocuments(ours, vendor, links{Events: map[string]string{"POST /v1/things": "Reply"}, Failure: "Failure"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCompare(t *testing.T) {
	got := compareTestdata(t)
	const things, beta, thing = "POST /v1/things", "POST /v1/things?beta=true", "GET /v1/things/{name}"
	want := []comparedOperation{
		{Name: things, Fields: 18, Differences: []difference{
			{things, "query", "page", kindRequired, "optional", "required", "", ""},
			{things, "header", "x-beta", kindLacks, "string", "", "", ""},
			{things, "body", "count", kindType, "number", "integer", "", ""},
			{things, "body", "effort", kindValues, `"medium"`, "", "", ""},
			{things, "body", "parts[type=film]", kindLacks, "object", "", "", ""},
			{things, "body", "parts[type=text].cache", kindLacks, "boolean", "", "", ""},
			{things, "body", "prompt[]", kindType, "integer or string", "string", "", ""},
			{things, "body", "prompt", kindRequired, "optional", "required", "", ""},
			{things, "body", "speed", kindValues, `"fast"`, "", "partial: Everything is slow.", ""},
			{things, "body", "store", kindType, "boolean or object", "boolean", "ignored: Nothing is kept.", ""},
			{things, "body", "tools[type=custom].more", kindLacks, "string", "", "", ""},
			{things, "body", "tools[type=search]", kindLacks, "object", "", "partial: Tools are run by the client.", ""},
			{things, "body", "tree.right", kindLacks, "object", "", "", ""},
			{things, "body", "voice", kindLacks, "string", "", "", ""},
			{things, "reply", "id", kindType, "string", "null or string", "", ""},
			{things, "reply", "kind", kindValues, "", `"other"`, "", ""},
			{things, "reply", "score", kindType, "integer", "number", "", ""},
			{things, "reply", "score", kindOptional, "required", "optional", "", ""},
			{things, "reply", "tier", kindLacks, "string", "", "refused: There is one tier.", ""},
			{things, "reply", "usage", kindLacks, "null or object", "", "", ""},
		}},
		{Name: beta, Fields: 17, Differences: []difference{
			{beta, "body", "beta", kindLacks, "string", "", "", ""},
		}},
		{Name: "POST /v1/things/batches", Refused: "There are no batches."},
		{Name: thing, Fields: 1},
		{Name: everyOperation, Fields: 1, Differences: []difference{
			{everyOperation, "error", "error", kindType, "object", "string", "", ""},
		}},
	}
	if diff := cmp.Diff(want, got.Operations); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestCompareNeedsEveryOperation(t *testing.T) {
	ours, err := parseDocument([]byte(`{"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	vendor, err := parseDocument([]byte(`{"openapi": "3.1.0", "paths": {"/b": {"get": {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compareDocuments(ours, vendor, links{}); err == nil {
		t.Error("an operation that the vendor does not have is compared with nothing")
	}
}

func TestParseDocument(t *testing.T) {
	text, err := os.ReadFile("testdata/vendor.json")
	if err != nil {
		t.Fatal(err)
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		text []byte
		ok   bool
	}{
		{"JSON", text, true},
		{"gzip", compressed.Bytes(), true},
		{"YAML with numbers as statuses", []byte("openapi: 3.1.0\npaths: {/a: {get: {responses: {200: {}}}}}"), true},
		{"cut", compressed.Bytes()[:20], false},
		{"not OpenAPI", []byte(`{"swagger": "2.0"}`), false},
		{"not YAML", []byte("a: [\n"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parseDocument(tt.text)
			if (err == nil) != tt.ok || err == nil && len(d.operations) == 0 {
				t.Errorf("error %v, document %v", err, d)
			}
		})
	}
}

func TestShapeText(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{}`, "any"},
		{`{"type": "string"}`, "string"},
		{`{"type": ["string", "null"], "enum": ["a", null]}`, `null or "a"`},
		{`{"const": 1}`, "1"},
		{`{"type": "number", "enum": [1, 2]}`, "1 or 2"},
		{`{"anyOf": [{"type": "string"}, {"type": "string", "enum": ["a"]}]}`, "string"},
		{`{"oneOf": [{"const": "a"}, {"const": "b"}]}`, `"a" or "b"`},
		{`{"allOf": [{"type": "number"}, {"type": "integer"}]}`, "integer"},
		{`{"type": "string", "allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}`, `"b"`},
		{`{"anyOf": [{"type": "string"}], "nullable": true}`, "null or string"},
		{`{"properties": {"a": {}}}`, "object"},
		{`{"items": {}}`, "array"},
		{`{"$ref": "#/components/schemas/Loop"}`, "any"},
		{`{"enum": ["a","b","c","d","e","f","g","h","i","j"]}`, `"a" or "b" or "c" or "d" or "e" or "f" or "g" or "h" or 2 more`},
	}
	for _, tt := range tests {
		t.Run(tt.schema, func(t *testing.T) {
			d, err := parseDocument([]byte(`{"openapi": "3.1.0", "components": {"schemas": {
				"Loop": {"anyOf": [{"$ref": "#/components/schemas/Loop"}]}, "Asked": ` + tt.schema + `}}}`))
			if err != nil {
				t.Fatal(err)
			}
			if got := d.union(one(component("Asked"))).text(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
