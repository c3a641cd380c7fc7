package export

import (
	"bytes"
	"encoding/json/v2"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// documents are all documents in all profiles.
func documents(t *testing.T) map[string]*openapi.Document {
	t.Helper()
	letters, err := os.ReadFile("../testdata/letters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*openapi.Document{}
	for name, load := range map[string]func() (*openapi.Document, error){
		"letters":   func() (*openapi.Document, error) { return openapi.Load(letters) },
		"openai":    openapi.OpenAI,
		"anthropic": openapi.Anthropic,
	} {
		d, err := load()
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
			if all[name+" "+string(profile)], err = d.Narrow(profile); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// judge is an independent validator of the bodies of an exported document.
type judge struct{ compiled map[string]*jsonschema.Schema } // by operation

func newJudge(t *testing.T, d *openapi.Document, version Version) judge {
	t.Helper()
	exported, err := New(d, Options{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	text, err := exported.JSON()
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("document.json", document); err != nil {
		t.Fatal(err)
	}
	j := judge{map[string]*jsonschema.Schema{}}
	for _, o := range d.Operations() {
		if o.Body == nil || o.Mark.Server == openapi.SupportRefused {
			continue
		}
		schema := "document.json#/components/schemas/" + o.Body.Schema.Name
		if j.compiled[o.ID], err = compiler.Compile(schema); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func (j judge) check(t *testing.T, operation string, body []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return j.compiled[operation].Validate(value)
}

// TestVerdicts holds the server's verdict on a body and that of a validator that knows
// nothing of marks to be the same, for the cases of every field, and for bodies with
// several mistakes at random places.
func TestVerdicts(t *testing.T) {
	for name, d := range documents(t) {
		j := newJudge(t, d, Version31)
		for _, o := range d.Operations() {
			if j.compiled[o.ID] == nil {
				continue
			}
			t.Run(name+" "+o.ID, func(t *testing.T) {
				t.Parallel()
				cases, err := conformance.Cases(o)
				if err != nil {
					t.Fatal(err)
				}
				var bodies [][]byte
				for _, c := range cases {
					bodies = append(bodies, c.Body)
				}
				for _, example := range o.Examples {
					bodies = append(bodies, example)
				}
				bodies = append(bodies, mixed(t, bodies, 800)...)
				accepted := 0
				for _, body := range bodies {
					_, v := o.Check(bytes.Clone(body))
					if err := j.check(t, o.ID, body); (v == nil) != (err == nil) {
						t.Errorf("%s\nthe server says %v\nthe export says %v", body, v, err)
					}
					if v == nil {
						accepted++
					}
				}
				if accepted < len(bodies)/50 || accepted > len(bodies)-len(bodies)/50 {
					t.Errorf("%d of %d bodies are accepted; the comparison wants many of both", accepted, len(bodies))
				}
			})
		}
	}
}

// mixed makes bodies in which parts of others stand at random places.
func mixed(t *testing.T, bodies [][]byte, count int) [][]byte {
	t.Helper()
	m := &mixer{Rand: rand.New(rand.NewPCG(1, 2))}
	var whole []any
	for _, body := range bodies {
		var value any
		if err := json.Unmarshal(body, &value); err != nil {
			continue // a number that only text can hold
		}
		whole = append(whole, value)
		m.collect(value)
	}
	var all [][]byte
	for range count {
		body, err := json.Marshal(m.change(whole[m.IntN(len(whole))]), json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, body)
	}
	return all
}

type mixer struct {
	*rand.Rand
	parts []any
}

func (m *mixer) collect(value any) {
	m.parts = append(m.parts, value)
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			m.collect(value[name])
		}
	case []any:
		for _, item := range value {
			m.collect(item)
		}
	}
}

func (m *mixer) change(value any) any {
	if m.IntN(40) == 0 {
		return m.parts[m.IntN(len(m.parts))]
	}
	switch value := value.(type) {
	case map[string]any:
		changed := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if m.IntN(40) > 0 {
				changed[name] = m.change(value[name])
			}
		}
		return changed
	case []any:
		var changed = []any{}
		for _, item := range value {
			changed = append(changed, m.change(item))
		}
		return changed
	}
	return value
}

// TestExports holds exports to the loader of the documents, and finds nothing in them that
// the profile refuses.
func TestExports(t *testing.T) {
	for name, d := range documents(t) {
		for _, version := range []Version{Version32, Version31} {
			t.Run(fmt.Sprint(name, " ", version), func(t *testing.T) {
				exported, err := New(d, Options{Version: version})
				if err != nil {
					t.Fatal(err)
				}
				text, err := exported.YAML()
				if err != nil {
					t.Fatal(err)
				}
				spec, err := openapi3.NewLoader().LoadFromData(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := spec.Validate(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
