package conformance

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/openapi"
)

func documents(t *testing.T) map[string]*openapi.Document {
	t.Helper()
	text, err := os.ReadFile("../testdata/letters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*openapi.Document{}
	for name, load := range map[string]func() (*openapi.Document, error){
		"letters":   func() (*openapi.Document, error) { return openapi.Load(text) },
		"openai":    openapi.OpenAI,
		"anthropic": openapi.Anthropic,
	} {
		d, err := load()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = d
		if all[name+", document profile"], err = d.Narrow(openapi.ProfileDocument); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestCases checks the package openapi against all cases of all documents.
func TestCases(t *testing.T) {
	for name, d := range documents(t) {
		for _, o := range d.Operations() {
			cases, err := Cases(o)
			if err != nil {
				t.Fatal(err)
			}
			if o.Body != nil && len(cases) < 30 {
				t.Errorf("%s, %s: only %d cases", name, o.ID, len(cases))
			}
			for _, c := range cases {
				t.Run(name+"/"+o.ID+"/"+c.Name, func(t *testing.T) { check(t, o, c) })
			}
		}
	}
}

func check(t *testing.T, o *openapi.Operation, c Case) {
	checked, v := o.Check(c.Body)
	if c.Want == WantInvalid {
		if v == nil {
			t.Fatalf("accepted: %s", c.Body)
		}
		if diff := cmp.Diff(c.Pointer, v.Pointer); diff != "" || v.Rule != c.Rule {
			t.Errorf("%s\n%s: %v, want %s\npointer (-want +got):\n%s", c.Body, v.Rule, v, c.Rule, diff)
		}
		return
	}
	if v != nil {
		t.Fatalf("%s\n%s: %v", c.Body, v.Rule, v)
	}
	named := slices.ContainsFunc(checked.Ignored, func(i openapi.Ignored) bool { return i.Name == c.Ignored })
	if named != (c.Want == WantIgnored) {
		t.Errorf("%s\nignored %v, want %q there", c.Body, checked.Ignored, c.Ignored)
	}
}

// TestCasesReachEveryField checks that every row of a body's matrix has a case.
func TestCasesReachEveryField(t *testing.T) {
	for name, d := range documents(t) {
		for _, o := range d.Operations() {
			cases, err := Cases(o)
			if err != nil {
				t.Fatal(err)
			}
			fields := map[string]bool{}
			for _, c := range cases {
				fields[plain(c.Name)] = true
			}
			for _, row := range o.Matrix() {
				if row.Part == "body" && !fields[plain(row.Field)] {
					t.Errorf("%s, %s: no case for %s", name, o.ID, row.Field)
				}
			}
		}
	}
}

// plain cuts a case's name to the field and leaves out which kind of item it
// is: messages[role=user].content and messages[].content are one field.
func plain(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(name, "")
}
