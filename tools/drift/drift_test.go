package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/diglot/diglot/tools/internal/comparison"
	"github.com/google/go-cmp/cmp"
)

const ours = `
openapi: 3.2.0
paths:
  /v1/things:
    post:
      requestBody:
        content:
          application/json:
            schema:
              type: object
              properties:
                name: {type: string}
                count: {type: integer}
                old: {type: string, x-support: {document: unlisted, server: ignored, note: It has no effect.}}
                known: {type: string, x-support: {document: unlisted}}
      responses:
        '200':
          description: A thing.
          content:
            application/json: {schema: {type: object, properties: {id: {type: string}}}}
            text/event-stream: {itemSchema: {type: object, properties: {data: {contentSchema: {type: object, properties: {id: {type: string}}}}}}}
        '400':
          description: No.
          content:
            application/json: {schema: {type: object, properties: {error: {type: object, properties: {message: {type: string}}}}}}
    get:
      parameters: [{name: limit, in: query, schema: {type: integer}}]
      responses: {'200': {description: Things., content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
`

var parts = []part{
	{Route: "POST /v1/things", Part: "body", Python: "things.Create", Node: "Things.Create"},
	{Route: "POST /v1/things", Part: "reply", Python: "things.Thing", Node: "Things.Thing"},
	{Route: "POST /v1/things", Part: "event", Python: "things.Event", Node: "Things.Event"},
	{Route: "GET /v1/things", Part: "query", Python: "things.List", Node: "Things.List"},
	{Route: "GET /v1/things", Part: "reply", Python: "things.Thing", Node: "Things.Thing"},
	{Route: everyRoute, Part: "error", Member: "error", Python: "things.Error", Node: "Things.Error"},
}

func schema(properties object) object { return object{"type": "object", "properties": properties} }

// typesOf are what a program would print of an SDK that has integers, or has not.
func typesOf(prefix, integer string) types {
	text := object{"type": "string"}
	return types{
		Types: map[string]any{
			prefix + ".Create": object{"$ref": "#/components/schemas/Create"},
			prefix + ".Thing":  schema(object{"id": text, "colour": text}),
			prefix + ".Event":  schema(object{"id": text, "delta": text}),
			prefix + ".List":   object{"$ref": "#/components/schemas/List"},
			prefix + ".Error":  schema(object{"message": text, "cause": text}),
		},
		Schemas: map[string]any{
			"Create": schema(object{"name": text, "count": object{"type": integer}, "voice": text, "known": text}),
			"List":   schema(object{"limit": object{"type": integer}, "after": text, "stages": object{"type": "array", "items": text}}),
		},
	}
}

// TestDocument compares a document with those of two SDKs.
func TestDocument(t *testing.T) {
	document, err := comparison.Parse([]byte(ours))
	if err != nil {
		t.Fatal(err)
	}
	var merged style
	for i, l := range []struct{ prefix, integer string }{{"things", "integer"}, {"Things", "number"}} {
		vendor, err := typesOf(l.prefix, l.integer).document("Things", parts, sdks[i])
		if err != nil {
			t.Fatal(err)
		}
		one, err := comparison.Compare(document, vendor, comparison.Links{})
		if err != nil {
			t.Fatal(err)
		}
		merged.add(one, sdks[i].language)
	}
	merged.dropPartly(len(sdks))
	var got []string
	for _, o := range merged.Operations {
		for _, f := range o.Found {
			got = append(got, strings.Join([]string{o.Name, f.Part, f.Kind, f.Field, strings.Join(f.Languages, "+")}, " "))
		}
		for _, field := range o.Listed {
			got = append(got, o.Name+" listed "+field)
		}
	}
	want := []string{
		"GET /v1/things query lacks after Python+Node",
		"GET /v1/things query lacks stages[] Python+Node",
		"GET /v1/things reply lacks colour Python+Node",
		"POST /v1/things body lacks voice Python+Node",
		"POST /v1/things body gone old Python+Node",
		"POST /v1/things reply lacks colour Python+Node",
		"POST /v1/things event lacks delta Python+Node",
		"POST /v1/things listed body known",
		"every operation error lacks error.cause Python+Node",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDocumentNeedsEveryType(t *testing.T) {
	if _, err := (types{}).document("Things", parts, sdks[0]); err == nil || !strings.Contains(err.Error(), "things.Create") {
		t.Errorf("got %v, want an error that names the type", err)
	}
}

// TestParts holds the two lists of types against each other.
func TestParts(t *testing.T) {
	t.Chdir("../..")
	all, err := readParts()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range all {
		name := p.Style + " " + p.Route + " " + p.Part
		if seen[name] {
			t.Errorf("%s is listed twice", name)
		}
		seen[name] = true
		if p.Python == "" || p.Node == "" {
			t.Errorf("%s has no type", name)
		}
	}
	for _, want := range []string{"openai POST /v1/responses body", "openai POST /v1/responses event", "anthropic * error"} {
		if !seen[want] {
			t.Errorf("%s is not listed", want)
		}
	}
}

func TestReasons(t *testing.T) {
	if _, err := comparison.ReadReasons(reasonsFile); err != nil {
		t.Error(err)
	}
}

func TestPage(t *testing.T) {
	found := func(field, reason string) finding {
		return finding{comparison.Difference{Operation: "POST /v1/things", Part: "body", Field: field, Kind: comparison.Lacks, Vendor: "string", Reason: reason}, []string{"Node"}}
	}
	r := report{SDKs: []string{"Node: things 1.2.3"}, Styles: []style{{Title: "Things", Operations: []operation{
		{Name: "POST /v1/things", Fields: 3, Listed: []string{"body known"},
			Found: []finding{found("voice", ""), found("a", "Nothing speaks."), found("b", "Nothing speaks.")}},
		{Name: "POST /v1/others", Refused: "There are none."},
	}}}}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- Node: things 1.2.3",
		"| POST /v1/things | body | `voice` | lacks | string (Node only) |  |\n",
		"| body | `a`, `b` | lacks | Nothing speaks. |\n",
		"3 fields that both sides have.",
		"`body known`.",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
	if strings.Contains(page.String(), "others") {
		t.Error("the page has an operation that is refused")
	}
}
