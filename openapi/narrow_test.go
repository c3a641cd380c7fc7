package openapi

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const unsupported = "x-support: {document: unsupported"

// narrowing is what a mark on something in a reply makes of a frame.
var narrowing = []struct {
	name, old, new string // an edit of the sample
	operation      string
	event, data    string
	want           string // empty: there is no such frame
}{
	{"nothing", "Its id.", "Its id.", "writeLetter", "close", `{"reason":"length"}`, `{"reason":"length"}`},
	{"a value", "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {document: unsupported, instead: done}}}",
		"writeLetter", "close", `{"reason":"length"}`, `{"reason":"done"}`},
	{"another value", "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {document: unsupported, instead: done}}}",
		"writeLetter", "close", `{"reason":"done"}`, `{"reason":"done"}`},
	{"a required member that may be null", "Who signed it.}", "Who signed it., " + unsupported + "}}",
		"writeLetter", "open", `{"id":"l","text":"","signature":"s"}`, `{"id":"l","text":"","signature":null}`},
	{"a required member with another value", "text: {type: string, description: Its text.}", "text: {type: string, description: Its text., " + unsupported + ", instead: '-'}}",
		"writeLetter", "open", `{"id":"l","text":"t","signature":null}`, `{"id":"l","text":"-","signature":null}`},
	{"a member", "x-support: {document: supported, server: refused, note: Nothing comes after.}", unsupported + "}",
		"writeLetter", "open", `{"id":"l","text":"","signature":null,"postscript":"p"}`, `{"id":"l","text":"","signature":null}`},
	{"an event", "x-event-name: word\n", "x-event-name: word\n      " + unsupported + "}\n", "writeLetter", "word", `{"word":"a","index":0}`, ""},
	{"the first event", "x-event-name: open\n", "x-event-name: open\n      " + unsupported + "}\n", "writeLetter", "open", `{"id":"l","text":"","signature":null}`, ""},
	{"another event", "x-event-name: word\n", "x-event-name: word\n      " + unsupported + "}\n", "writeLetter", "close", `{"reason":"done"}`, `{"reason":"done"}`},
	{"an event without a name", "description: It broke.\n", "description: It broke.\n      " + unsupported + "}\n", "readLetter", "", `{"error":{"type":"mistake","message":"broke"}}`, ""},
	{"beside it", "description: It broke.\n", "description: It broke.\n      " + unsupported + "}\n", "readLetter", "", `{"word":"a","index":0}`, `{"word":"a","index":0}`},
	{"and the end", "description: It broke.\n", "description: It broke.\n      " + unsupported + "}\n", "readLetter", "", `[DONE]`, `[DONE]`},
}

// TestNarrowReplies checks that a frame loses what a mark withholds, in the document
// profile alone, and fits the document of that profile.
func TestNarrowReplies(t *testing.T) {
	for _, tt := range narrowing {
		t.Run(tt.name, func(t *testing.T) {
			plain := edited(t, tt.old, tt.new)
			narrowed, err := plain.Narrow(ProfileDocument)
			if err != nil {
				t.Fatal(err)
			}
			for profile, want := range map[*Document]string{plain: tt.data, narrowed: tt.want} {
				stream := streamOf(t, profile, tt.operation)
				got, ok := stream.Narrow(tt.event, []byte(tt.data))
				if string(got) != want || ok != (want != "") {
					t.Errorf("profile %s: %s, %t; want %s", profile.Profile, got, ok, want)
				}
				if ok {
					if err := stream.NewChecker().Frame(tt.event, string(got)); err != nil {
						t.Errorf("profile %s: %v", profile.Profile, err)
					}
				}
			}
			checkWhole(t, streamOf(t, narrowed, tt.operation), tt.operation)
			if tt.want != tt.data {
				if err := streamOf(t, narrowed, tt.operation).NewChecker().Frame(tt.event, tt.data); err == nil {
					t.Error("the narrowed document takes what it withholds")
				}
			}
		})
	}
}

// checkWhole narrows a whole stream, which then has the events that the document demands.
func checkWhole(t *testing.T, stream *Stream, operation string) {
	t.Helper()
	checker := stream.NewChecker()
	for _, frame := range map[string][][2]string{
		"writeLetter": {{"open", `{"id":"l","text":"","signature":null}`}, {"word", `{"word":"a","index":0}`}, {"close", `{"reason":"done"}`}},
		"readLetter":  {{"", `{"word":"a","index":0}`}, {"", "[DONE]"}},
	}[operation] {
		if data, ok := stream.Narrow(frame[0], []byte(frame[1])); ok {
			if err := checker.Frame(frame[0], string(data)); err != nil {
				t.Error(err)
			}
		}
	}
	if err := checker.End(); err != nil {
		t.Error(err)
	}
}

// TestNarrowUnions checks that a list loses withheld items, and that Narrows reports it.
func TestNarrowUnions(t *testing.T) {
	d := edited(t, "text: {type: string, description: Its text.}", "text: {type: array, description: Its text., items: {$ref: '#/components/schemas/Part'}}")
	const body = `{"id":"l","text":[{"type":"text","text":"a"},{"type":"picture","url":"u"}],"signature":null}`
	if reply, err := operation(t, d, "writeLetter").Reply(200, "application/json"); err != nil || string(reply.Narrow([]byte(body))) != body {
		t.Errorf("the default profile changes a reply, or %v", err)
	}
	d = edited(t, "text: {type: string, description: Its text.}", "text: {type: array, description: Its text., items: {$ref: '#/components/schemas/Part'}}",
		"description: A picture.\n", "description: A picture.\n      "+unsupported+"}\n")
	d, err := d.Narrow(ProfileDocument)
	if err != nil {
		t.Fatal(err)
	}
	o := operation(t, d, "writeLetter")
	reply, err := o.Reply(200, "application/json")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(reply.Narrow([]byte(body))), `{"id":"l","text":[{"type":"text","text":"a"}],"signature":null}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if o.Sends("PicturePart") || !o.Sends("TextPart") {
		t.Error("pictures are sent, or texts are not")
	}
}

// TestNarrowBesideRepeats holds that nothing slips through beside arguments of a
// call in which the model wrote a name twice.
func TestNarrowBesideRepeats(t *testing.T) {
	d, err := edited(t, "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {document: unsupported, instead: done}}}").Narrow(ProfileDocument)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := streamOf(t, d, "writeLetter").Narrow("close", []byte(`{"reason":"length","input":{"a":1,"a":2}}`))
	if want := `{"reason":"done","input":{"a":1,"a":2}}`; string(got) != want || !ok {
		t.Errorf("%s, %t; want %s", got, ok, want)
	}
}

// TestNarrowFittingBranch holds that a string is narrowed by the branch of a union
// that has it.
func TestNarrowFittingBranch(t *testing.T) {
	d, err := edited(t, "reason: {type: string, description: Why., enum: [done, length]}", `reason:
          description: Why.
          anyOf:
            - {type: string, description: No more., enum: [none]}
            - {type: string, description: More., enum: [done, length], x-support-values: {length: {document: unsupported, instead: done}}}`).Narrow(ProfileDocument)
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{`{"reason":"length"}`: `{"reason":"done"}`, `{"reason":"none"}`: `{"reason":"none"}`} {
		if got, ok := streamOf(t, d, "writeLetter").Narrow("close", []byte(data)); string(got) != want || !ok {
			t.Errorf("%s becomes %s, %t; want %s", data, got, ok, want)
		}
	}
}

// TestInsteadIsForReplies checks that a request is refused whatever replies would say.
func TestInsteadIsForReplies(t *testing.T) {
	d, err := edited(t, "nobody reads the document.\n          x-support: {document: unsupported}", "nobody reads the document.\n          "+unsupported+", instead: x}").Narrow(ProfileDocument)
	if err != nil {
		t.Fatal(err)
	}
	if _, v := operation(t, d, "writeLetter").Check([]byte(with(`,"hint":"x"`))); v == nil || v.Rule != RuleRefused {
		t.Errorf("violation %v, want a refusal", v)
	}
}

func TestNarrowedMatrix(t *testing.T) {
	d := edited(t, "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {document: unsupported, instead: done}}}",
		"x-event-name: word\n", "x-event-name: word\n      "+unsupported+"}\n")
	narrowed, err := d.Narrow(ProfileDocument)
	if err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[*Document][]string{
		d:        {`event word [event=word] WordEvent implemented`, `event close reason "done" or "length" implemented`, `event close reason=length "length" implemented`},
		narrowed: {`event word [event=word] WordEvent refused`, `event close reason "done" implemented`, `event close reason=length "length" refused`},
	} {
		var got []string
		for _, r := range operation(t, profile, "writeLetter").Matrix() {
			if strings.HasPrefix(r.Part, "event ") && strings.HasPrefix(r.Field, "reason") || r.Field == "[event=word]" {
				got = append(got, strings.Join([]string{r.Part, r.Field, r.Type, string(r.Mark.Server)}, " "))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("profile %s (-want +got):\n%s", profile.Profile, diff)
		}
	}
}

func TestMarksThatCannotBeObeyed(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"nothing to be there instead", "description: Its id.}", "description: Its id., " + unsupported + "}}", "so it needs an instead"},
		{"no value to be there instead", "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {document: unsupported}}}", "so it needs an instead"},
		{"no such value", "enum: [done, length]}", "enum: [done, length], x-support-values: {x: {document: unsupported}}}", "value x is not in the enum"},
		{"no such value instead", "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {document: unsupported, instead: x}}}", `length is replaced by "x"`},
		{"no value left", "enum: [done, length]}", "enum: [done], x-support-values: {done: {document: unsupported}}}", "no value is left"},
		{"a value that is ignored", "enum: [done, length]}", "enum: [done, length], x-support-values: {length: {server: ignored, note: N.}}}", "implemented or refused"},
		{"instead of what is served", "description: Its id.}", "description: Its id., x-support: {document: unlisted, instead: x}}", "instead belongs to what is unsupported"},
	} {
		d, err := Load([]byte(editedText(t, tt.old, tt.new)))
		if err == nil {
			_, err = d.Narrow(ProfileDocument)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

func streamOf(t *testing.T, d *Document, id string) *Stream {
	t.Helper()
	reply, err := operation(t, d, id).Reply(200, "text/event-stream")
	if err != nil {
		t.Fatal(err)
	}
	return reply.Stream
}

// edited is the sample with other texts, given in pairs.
func edited(t *testing.T, pairs ...string) *Document {
	t.Helper()
	d, err := Load([]byte(editedText(t, pairs...)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func editedText(t *testing.T, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/letters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if strings.Count(string(text), pairs[i]) != 1 {
			t.Fatalf("the sample does not have %q once", pairs[i])
		}
	}
	return strings.NewReplacer(pairs...).Replace(string(text))
}
