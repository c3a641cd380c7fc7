package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestAgainstKin compares the checker with kin-openapi's validator, over values that follow
// the schemas with mistakes in them. Both see the plain schemas, without marks.
func TestAgainstKin(t *testing.T) {
	openAI, err := OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	anthropic, err := Anthropic()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Document{loadLetters(t), openAI, anthropic} {
		for path, item := range d.spec.Paths.Map() {
			if item.Post != nil && item.Post.RequestBody != nil {
				t.Run(path, func(t *testing.T) { compare(t, item.Post.RequestBody.Value.Content[jsonType].Schema) })
			}
		}
	}
}

func compare(t *testing.T, ref *openapi3.SchemaRef) {
	compiler := newCompiler(forLimit, "")
	use, err := compiler.use(ref)
	if err != nil {
		t.Fatal(err)
	}
	compiler.link()
	const count = 3000
	fits, judged := 0, 0
	for seed := range uint64(count) {
		g := &guesser{Rand: rand.New(rand.NewPCG(seed, 1))}
		body, err := json.Marshal(g.value(use.Schema, 0))
		if err != nil {
			t.Fatal(err)
		}
		if g.beyond {
			continue
		}
		tree, v := parse(body, unbounded)
		if v != nil {
			t.Fatalf("%s: %v", body, v)
		}
		_, v = tree.check(&use)

		var value any
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			t.Fatal(err)
		}
		err = ref.Value.VisitJSON(value, openapi3.DisableSchemaErrorDetails())
		if (v == nil) != (err == nil) {
			t.Errorf("%s\nwe say %v\nkin says %v", body, v, err)
		}
		if judged++; v == nil {
			fits++
		}
	}
	if judged < count/2 || fits < judged/50 || fits > judged-judged/50 {
		t.Errorf("%d of %d values fit; the comparison wants many of both", fits, judged)
	}
}

// guesser makes values that mostly fit a schema.
type guesser struct {
	*rand.Rand
	beyond bool // made a value that kin cannot judge: it requires a discriminator with a mapping
}

func (g *guesser) value(s *Schema, depth int) any {
	if g.IntN(200) == 0 || depth > 8 {
		return []any{nil, true, 0, -1.5, 3, 200, "", "warm", "text", "abcdefgh", []any{}, map[string]any{}}[g.IntN(12)]
	}
	if len(s.Union) > 0 {
		value := g.value(s.Union[g.IntN(len(s.Union))].Schema, depth+1)
		if object, ok := value.(map[string]any); ok && (s.Default != nil || s.undiscriminated() != nil) && s.Discriminator != "" {
			name, _ := object[s.Discriminator].(string)
			g.beyond = g.beyond || !slices.Contains(s.Values(), name)
		}
		return value
	}
	if len(s.Enum) > 0 {
		var value any
		_ = json.Unmarshal(s.Enum[g.IntN(len(s.Enum))], &value)
		return value
	}
	switch {
	case s.Kinds&Object != 0:
		object := map[string]any{}
		for _, p := range s.Properties {
			if p.Required && g.IntN(100) > 0 || g.IntN(4) == 0 {
				object[p.Name] = g.value(p.Schema, depth+1)
			}
		}
		if s.Additional != nil {
			object[fmt.Sprint(g.IntN(9))] = g.value(s.Additional.Schema, depth+1)
		}
		return object
	case s.Kinds&Array != 0:
		array := []any{}
		for range g.IntN(4) {
			array = append(array, g.value(s.Items.Schema, depth+1))
		}
		return array
	case s.Kinds&Integer != 0 && s.Kinds&Number == 0:
		return g.IntN(12)
	case s.Kinds&Number != 0:
		return float64(g.IntN(25)) / 10
	case s.Kinds&Boolean != 0:
		return g.IntN(2) == 0
	}
	return []string{"", "a", "abc", "abcdef", "é"}[g.IntN(5)]
}
