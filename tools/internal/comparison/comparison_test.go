package comparison

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compareTestdata compares the small documents in testdata.
func compareTestdata(t *testing.T) Compared {
	t.Helper()
	ours, err := Read("testdata/ours.yaml")
	if err != nil {
		t.Fatal(err)
	}
	vendor, err := Read("testdata/vendor.json")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compare(ours, vendor, Links{Events: map[string]string{"POST /v1/things": "Reply"}, Failure: "Failure"})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCompare(t *testing.T) {
	got := compareTestdata(t)
	const things, beta, thing = "POST /v1/things", "POST /v1/things?beta=true", "GET /v1/things/{name}"
	want := []Operation{
		{Name: things, Fields: 19, Listed: []string{"body mode"}, Differences: []Difference{
			{things, "query", "page", Required, "optional", "required", "", ""},
			{things, "header", "x-beta", Lacks, "string", "", "", ""},
			{things, "body", "count", Type, "number", "integer", "", ""},
			{things, "body", "effort", Values, `"medium"`, "", "", ""},
			{things, "body", "mode", Values, `"loud"`, "", "partial: Nothing is loud.", ""},
			{things, "body", `mode="silent"`, Gone, "", "", "", ""},
			{things, "body", "parts[type=film]", Lacks, "object", "", "", ""},
			{things, "body", "parts[type=text].cache", Lacks, "boolean", "", "", ""},
			{things, "body", "parts[type=scent]", Gone, "", "", "", ""},
			{things, "body", "prompt[]", Type, "integer or string", "string", "", ""},
			{things, "body", "prompt", Required, "optional", "required", "", ""},
			{things, "body", "speed", Values, `"fast"`, "", "partial: Everything is slow.", ""},
			{things, "body", "store", Type, "boolean or object", "boolean", "ignored: Nothing is kept.", ""},
			{things, "body", "tools[type=custom].more", Lacks, "string", "", "", ""},
			{things, "body", "tools[type=search]", Lacks, "object", "", "partial: Tools are run by the client.", ""},
			{things, "body", "tree.right", Lacks, "object", "", "", ""},
			{things, "body", "voice", Lacks, "string", "", "", ""},
			{things, "body", "pitch", Gone, "", "", "", ""},
			{things, "reply", "id", Type, "string", "null or string", "", ""},
			{things, "reply", "kind", Values, "", `"other"`, "", ""},
			{things, "reply", "score", Type, "integer", "number", "", ""},
			{things, "reply", "score", Optional, "required", "optional", "", ""},
			{things, "reply", "tier", Lacks, "string", "", "refused: There is one tier.", ""},
			{things, "reply", "usage", Lacks, "null or object", "", "", ""},
			{things, "reply", "more", Gone, "", "", "", ""},
		}},
		{Name: beta, Fields: 18, Listed: []string{}, Differences: []Difference{
			{beta, "body", "beta", Lacks, "string", "", "", ""},
		}},
		{Name: "POST /v1/things/batches", Refused: "There are no batches."},
		{Name: thing, Fields: 1, Differences: []Difference{
			{thing, "reply", "kind", Gone, "", "", "", ""},
			{thing, "reply", "more", Gone, "", "", "", ""},
			{thing, "reply", "score", Gone, "", "", "", ""},
			{thing, "reply", "tier", Gone, "", "", "", ""},
		}},
		{Name: EveryOperation, Fields: 1, Differences: []Difference{
			{EveryOperation, "error", "error", Type, "object", "string", "", ""},
		}},
	}
	if diff := cmp.Diff(want, got.Operations); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestCompareNeedsEveryOperation(t *testing.T) {
	ours, err := Parse([]byte(`{"openapi": "3.1.0", "paths": {"/a": {"get": {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	vendor, err := Parse([]byte(`{"openapi": "3.1.0", "paths": {"/b": {"get": {}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(ours, vendor, Links{}); err == nil {
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
			d, err := Parse(tt.text)
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
			d, err := Parse([]byte(`{"openapi": "3.1.0", "components": {"schemas": {
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
