package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = "../../openapi/testdata/letters.yaml"

func TestCleanDocuments(t *testing.T) {
	for _, name := range []string{sample, "../../openapi/openai.yaml", "../../openapi/anthropic.yaml"} {
		messages, err := lintFile(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, message := range messages {
			t.Error(message)
		}
	}
}

// TestRules breaks the sample in one place for each rule.
func TestRules(t *testing.T) {
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	const seed = "          type: integer\n          description: Makes chance repeatable."
	tests := []struct {
		rule, old, new string
		want           []string
	}{
		{"enforced keywords", seed, seed + "\n          const: 5",
			[]string{"keyword const is not enforced: an enum of one value says the same and also names a type"}},
		{"enforced keywords in a limit", "only: {maximum: 1}", "only: {not: {}}", []string{"keyword not is not enforced: say what is allowed"}},
		{"objects have names", seed, "          type: object\n          description: d\n          properties: {a: {type: string, description: d}}",
			[]string{"an object with properties is a component, so that its type has a name"}},
		{"objects in lists have names", "items: {type: string, minLength: 1}", "items: {properties: {a: {type: string, description: d}}}",
			[]string{"an object with properties is a component, so that its type has a name"}},
		{"statuses are listed", "        '400':\n", "        default:\n", []string{"default response: list the statuses, each with its body"}},
		{"errors are listed", "              examples:\n                gone:", "              x-gone:\n                gone:", []string{"response without errors: each is an example, with a summary and a value"}},
		{"operations have errors", "        '404':\n", "        '304':\n", []string{"operation without errors"}},
		{"errors say when they come", "summary: The letter was thrown away., value", "value", []string{"error gone: its summary is a sentence that says when it comes"}},
		{"errors have types", "value: {error: {type: mistake, message: It is gone.}}", "value: {error: {message: It is gone.}}", []string{"error gone has no type"}},
		{"errors have messages", "value: {error: {type: mistake, message: It is gone.}}", "value: {error: {type: mistake}}", []string{"error gone has no message"}},
		{"details are errors", "detail: no_parent", "detail: no_child", []string{"x-support: the detail no_child is no error of the document"}},
		{"headers are described", "pages: {description: How many pages were read., ", "pages: {", []string{"header pages without description"}},
		{"headers in components are used", "            letter-id: {$ref: '#/components/headers/LetterID'}\n", "", []string{"LetterID is never referred to"}},
		{"properties are described", "          description: Makes chance repeatable.\n", "", []string{"property seed without description"}},
		{"schemas are described", "      description: A tone.\n", "", []string{"schema Mood without description"}},
		{"responses are described", "          description: The request is wrong.\n", "", []string{"response without description"}},
		{"parameters are described", "          description: Most words to return.\n", "", []string{"parameter without description"}},
		{"operations are described", "      summary: Read a letter\n", "", []string{"operation without summary"}},
		{"marks have notes", ", note: Letters are kept for a minute.", ", server: refused", []string{"x-support: what is refused needs a note"}},
		{"notes are sentences", "Labels have no effect.", "no effect", []string{"x-support: the note is a sentence and ends with a full stop"}},
		{"marks of values", "enum: [warm, cold]", "enum: [warm, cold]\n      x-support-values: {warm: {document: unsupported, note: no}}", []string{"x-support: the note is a sentence and ends with a full stop"}},
		{"marks say something", "x-support: {document: unsupported}\n", "x-support: {server: implemented}\n", []string{"x-support says what its absence would say too"}},
		{"marks are spelt right", "x-support: {document: unsupported}\n", "x-suport: {document: unsupported}\n", []string{"extension x-suport is not known; is it x-support?"}},
		{"every branch has a value", "          verse: '#/components/schemas/VerseFormat'\n", "", []string{"the discriminator has no value for #/components/schemas/VerseFormat"}},
		{"every branch lists its value", "enum: [verse]", "enum: [song]", []string{"#/components/schemas/VerseFormat does not list verse among the values of its type"}},
		{"unions of objects have discriminators",
			"      discriminator:\n        propertyName: role\n        mapping:\n          user: '#/components/schemas/UserTurn'\n          writer: '#/components/schemas/WriterTurn'\n", "",
			[]string{"a union of several objects needs a discriminator"}},
		{"no null in enums", "enum: [warm, cold]", "enum: [warm, null]", []string{"null in an enum: write anyOf of the enum and type null"}},
		{"enums have types", "      type: string\n      description: A tone.\n", "      description: A tone.\n", []string{"enum without type"}},
		{"x-order follows the lines", seed, seed + "\n          x-order: 2",
			[]string{"x-order of seed: members are numbered from 1 in declared order"}},
		{"objects stay open", "additionalProperties: {type: string}", "additionalProperties: false",
			[]string{"additionalProperties false would refuse what newer clients send; replies are closed by their check"}},
		{"required members exist", "required: [model, turns]", "required: [model, turns, x]", []string{"required property x is not defined"}},
		{"references lead somewhere", "'#/components/schemas/Cache'", "'#/components/schemas/Cash'",
			[]string{"reference #/components/schemas/Cash cannot be resolved", "Cache is never referred to"}},
		{"streams have an order", "              x-event-sequence: chunk (chunk )*(done |error )\n", "", []string{"event stream without x-event-sequence"}},
		{"the order names events", "chunk (chunk )*(done |error )", "chunk (line )*(done |error )", []string{"x-event-sequence: there is no event line"}},
		{"every event can come", "chunk (chunk )*(done |error )", "chunk (chunk )*(done )", []string{"x-event-sequence: event error never comes"}},
		{"events have names", "      x-event-name: done\n", "", []string{
			"x-event-sequence: there is no event done", "a union of several objects needs a discriminator", "event without x-event-name"}},
		{"events have contents", "enum: ['[DONE]']", "minLength: 1", []string{"event done: its data has neither contentSchema nor enum"}},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			changed := strings.Replace(string(text), tt.old, tt.new, 1)
			if changed == string(text) {
				t.Fatalf("%q is not in the sample", tt.old)
			}
			found, err := lint([]byte(changed))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, f.text)
				if f.line == 0 {
					t.Errorf("%s: no line", f.text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokenFiles(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "not YAML": "a: [", "outside": "openapi: 3.2.0\ninfo: {}\n"} {
		path := t.TempDir() + "/document.yaml"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if messages, err := lintFile(path); err == nil && len(messages) == 0 {
			t.Errorf("%s: nothing to say", name)
		}
	}
}
