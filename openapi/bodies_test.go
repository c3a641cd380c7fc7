package openapi

import (
	"strings"
	"testing"
)

func TestCountValues(t *testing.T) {
	for _, text := range []string{
		`1`, `"a"`, `[]`, `{}`, `[1,2,3]`, `{"a":1,"b":[true,null]}`, `{"a,b:[{":"\\\"],"}`, `["\\","\"",",,,"]`, `[[[[]]],{}]`, ` [ 1 , { "x" : "y" } ] `,
	} {
		tree, v := parse([]byte(text), unbounded)
		if v != nil {
			t.Fatalf("%s: %v", text, v)
		}
		empty := strings.Count(text, "[]") + strings.Count(text, "{}")
		if got, least := CountValues([]byte(text)), len(tree.nodes); got < least || got > least+empty {
			t.Errorf("%s: %d values were counted, and there are %d", text, got, least)
		}
	}
	for _, text := range []string{``, `"`, `"\"`, `{"a`} {
		CountValues([]byte(text)) // ends
	}
}

// FuzzCountValues checks that no JSON has more values than were counted.
func FuzzCountValues(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c,d"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		tree, v := parse([]byte(text), unbounded)
		if v == nil && CountValues([]byte(text)) < len(tree.nodes) {
			t.Errorf("%q has %d values", text, len(tree.nodes))
		}
	})
}

// TestBodiesOfDocuments checks the limits of both documents with bodies at the limit and
// one beyond.
func TestBodiesOfDocuments(t *testing.T) {
	for name, load := range map[string]func() (*Document, error){"openai": OpenAI, "anthropic": Anthropic} {
		document, err := load()
		if err != nil {
			t.Fatal(err)
		}
		if document.Bodies == unbounded {
			t.Errorf("%s: bodies have no bounds", name)
		}
		o := document.Operations()[0]
		values := func(n int) string { return `{"zz":[1` + strings.Repeat(",1", n-4) + `]}` } // with the object, the name and the list
		for _, tt := range []struct {
			name, body string
			rule       Rule
		}{
			{"as many values as may be", values(document.Bodies.Values), RuleRequired},
			{"one more", values(document.Bodies.Values + 1), RuleValues},
			{"as deep as may be", `{"zz":` + strings.Repeat("[", document.Bodies.Depth-1) + strings.Repeat("]", document.Bodies.Depth-1) + `}`, RuleRequired},
			{"one deeper", `{"zz":` + strings.Repeat("[", document.Bodies.Depth) + strings.Repeat("]", document.Bodies.Depth) + `}`, RuleDepth},
		} {
			if _, v := o.Check([]byte(tt.body)); v == nil || v.Rule != tt.rule {
				t.Errorf("%s: %s: %v, want the rule %s", name, tt.name, v, tt.rule)
			}
		}
	}
}
