package openapi

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLoadRefuses(t *testing.T) {
	text, err := os.ReadFile("testdata/letters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const seed = "          type: integer\n          description: Makes chance repeatable."
	tests := []struct{ name, old, new, want string }{
		{"not YAML", "openapi: 3.2.0", "openapi: [", "openapi:"},
		{"no such component", "schemas/LetterRequest'", "schemas/Nothing'", "Nothing"},
		{"outside reference", "'#/components/schemas/LetterRequest'", "'other.yaml#/A'", "external"},
		{"const", seed, seed + "\n          const: 5", "const is not enforced: an enum of one value"},
		{"unknown keyword", seed, seed + "\n          minimun: 5", "minimun"},
		{"allOf", seed, "          allOf: [{type: integer}]", "allOf is not enforced"},
		{"keyword in a limit", "only: {maximum: 1}", "only: {const: 1}", "const is not enforced"},
		{"pattern", "'^[a-z]+$'", "'^[a-z+$'", "missing closing"},
		{"required without property", "required: [model, turns]", "required: [model, turns, x]", "required property x is not defined"},
		{"odd support", "server: refused", "server: rejected", `server is "rejected"`},
		{"odd listing", "document: unlisted", "document: unknown", `document is "unknown"`},
		{"member of a mark", "detail: no_parent", "details: no_parent", "details"},
		{"mark without note", ", note: Labels have no effect.}", "}", "what is ignored needs a note"},
		{"partial without limit", "only: {maximum: 1}, ", "", "partial needs it"},
		{"limit without partial", "server: partial, only", "server: ignored, only", "only belongs to partial"},
		{"event without name", "      x-event-name: word\n", "", "event without x-event-name"},
		{"stream without sequence", "              x-event-sequence: 'open (word )*close '\n", "", "without x-event-sequence"},
		{"sequence", "open (word )*close", "open (word *close", "x-event-sequence"},
		{"default response", "        '400':\n", "        default:\n", "the status is no number"},
		{"discriminator outside the union", "          page: '#/components/schemas/PagePart'", "          page: '#/components/schemas/Call'", "selects no member of the union"},
		{"default outside the union", "defaultMapping: '#/components/schemas/OtherEnclosure'", "defaultMapping: '#/components/schemas/Call'", "selects no member of the union"},
		{"error without a type", "error: {type: mistake, message: It is gone.}", "error: {message: It is gone.}", "example gone: an error has a type"},
		{"error that does not fit", "type: mistake, message: It is gone.", "type: accident, message: It is gone.", "example gone: readLetter 404: error.type must be mistake"},
		{"one name for two errors", "gone: {summary", "wrong: {summary", "has the status, type and code"},
		{"header without schema", ", schema: {type: integer, minimum: 1}}\n          content", "}\n          content", "header must contain exactly one of content and schema"},
		{"union with properties", "      description: A shape.\n", "      description: A shape.\n      properties: {a: {type: string}}\n", "a union stands alone"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(string(text), tt.old, tt.new, 1)
			if changed == string(text) {
				t.Fatalf("%q is not in the document", tt.old)
			}
			_, err := Load([]byte(changed))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestFindOperation(t *testing.T) {
	d := loadLetters(t)
	var got []string
	for _, o := range d.Operations() {
		got = append(got, fmt.Sprintf("%s %s %s line %d body required %v", o.ID, o.Method, o.Path, o.Line, o.BodyRequired))
	}
	want := []string{"writeLetter POST /v1/letters line 8 body required true", "readLetter GET /v1/letters/{letter} line 53 body required false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	tests := []struct{ method, pattern, want string }{
		{"POST", "/v1/letters", "writeLetter"},
		{"GET", "/v1/letters/{letter}", "readLetter"},
		{"GET", "/v1/letters", ""},
		{"GET", "/v1/letters/7", ""},
	}
	for _, tt := range tests {
		id := ""
		if o, ok := d.Route(tt.method, tt.pattern); ok {
			id = o.ID
		}
		if id != tt.want {
			t.Errorf("%s %s is %q, want %q", tt.method, tt.pattern, id, tt.want)
		}
	}
}

func TestNarrow(t *testing.T) {
	d := loadLetters(t)
	narrow, err := d.Narrow(ProfileDocument)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, body, plain, document string }{
		{"unsupported but served", with(`,"hint":"x"`), "", "hint is not supported: The interface document calls it unsupported"},
		{"null for it", with(`,"hint":null`), "", ""},
		{"unsupported but harmless", with(`,"labels":{"a":"b"}`), "", ""},
		{"unlisted stays", with(`,"parent":"x"`), "parent is not supported: Send the whole conversation instead", "parent is not supported: Send the whole conversation instead"},
		{"supported stays", with(`,"seed":1`), "", ""},
	}
	for _, tt := range tests {
		for _, side := range []struct {
			d    *Document
			want string
		}{{d, tt.plain}, {narrow, tt.document}} {
			got := ""
			if _, v := operation(t, side.d, "writeLetter").Check([]byte(tt.body)); v != nil {
				got = v.Error()
			}
			if got != side.want {
				t.Errorf("%s, profile %s: %q, want %q", tt.name, side.d.Profile, got, side.want)
			}
		}
	}
	for _, tt := range []struct {
		d    *Document
		want Support
	}{{d, SupportImplemented}, {narrow, SupportRefused}} {
		if got := operation(t, tt.d, "readLetter").Mark.Server; got != tt.want {
			t.Errorf("profile %s: readLetter is %s, want %s", tt.d.Profile, got, tt.want)
		}
	}
	if _, err := d.Narrow("strict"); err == nil {
		t.Error("an unknown profile is accepted")
	}
}

func TestMatrix(t *testing.T) {
	o := operation(t, loadLetters(t), "writeLetter")
	var got []string
	for _, r := range o.Matrix() {
		if len(got) < 24 || !r.Mark.Plain() {
			got = append(got, fmt.Sprintf("%d %s: %s: %s: %s, %s", r.Line, r.Part, r.Field, r.Type, r.Mark.Document, r.Mark.Server))
		}
	}
	want := []string{
		`13 header: letters-version: string: supported, implemented`,
		`17 query: beta: boolean: unlisted, ignored`,
		`95 body: model: string: supported, implemented`,
		`99 body: turns: array of Turn: supported, implemented`,
		`184 body: turns[role=user]: UserTurn: supported, implemented`,
	}
	if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
		t.Errorf("first rows (-want +got):\n%s", diff)
	}
	var marked []string
	for _, r := range o.Marked() {
		marked = append(marked, r.Part+" "+r.Field)
	}
	want = []string{
		"query beta",
		"body turns[role=user].content[type=text].cache", "body turns[role=user].content[type=sound]", "body turns[role=user].content[type=page]",
		"body copies", "body labels", "body parent", "body hint", "body enclosures[kind=*]",
		"reply 200 postscript", "event open postscript",
	}
	if diff := cmp.Diff(want, marked); diff != "" {
		t.Errorf("marked rows (-want +got):\n%s", diff)
	}
}
