package grammar

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// beyondValidator are rows of schemaRows that the validator reads in another
// way: older drafts, and a format that is an annotation here.
var beyondValidator = map[string]bool{"other format": true, "nullable": true, "integers, draft 4": true, "old tuple": true}

// What a grammar allows is JSON, and follows the schema.
func TestGeneratedTextFollowsSchema(t *testing.T) {
	schemas := map[string]string{}
	for name, row := range schemaRows {
		if !beyondValidator[name] {
			schemas[name] = row.schema
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		schemas[fmt.Sprintf("random %d", i)] = randomSchema(rng, 3)
	}
	texts, given := 0, 0
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		text := schemas[name]
		valid := validator(t, text)
		n, issues, err := Schema(context.Background(), json.RawMessage(text))
		if err != nil || issues != nil {
			t.Errorf("%s: %s: issues %v, error %v", name, text, issues, err)
			continue
		}
		g := compile(t, n)
		for range 10 {
			got := generate(rng, g)
			texts++
			if got == nil {
				given++
				continue
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
			if err != nil || !json.Valid(got) {
				t.Errorf("%s: %s: not JSON: %s", name, text, got)
			} else if err := valid.Validate(value); err != nil {
				t.Errorf("%s: %s: %s: %v", name, text, got, err)
			}
		}
	}
	if given*20 > texts {
		t.Errorf("%d of %d texts were not ended", given, texts)
	}
}

func validator(t *testing.T, schema string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	valid, err := c.Compile("mem:///schema.json")
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return valid
}

// generate writes a random text: any allowed byte, and with growing length
// rather one that closes something. It returns nil when it gives up.
func generate(rng *rand.Rand, g *Grammar) []byte {
	m := g.Matcher()
	var text []byte
	for !m.Finished() && !(m.Complete() && rng.IntN(4) == 0) {
		if len(text) > 2000 {
			return nil // by chance alone some patterns are not met
		}
		var allowed, plain, closing []byte
		for b := range 256 {
			switch {
			case !m.Allows([]byte{byte(b)}):
			case strings.IndexByte(`"]}`, byte(b)) >= 0:
				closing = append(closing, byte(b))
			case b > ' ' && b < 0x7F:
				plain = append(plain, byte(b))
				fallthrough
			default:
				allowed = append(allowed, byte(b))
			}
		}
		if len(closing) > 0 && (len(allowed) == 0 || rng.IntN(20+len(text)) > 16) {
			allowed = closing
		} else if len(plain) > 0 && rng.IntN(3) > 0 {
			allowed = plain
		}
		b := allowed[rng.IntN(len(allowed))]
		m.Accept([]byte{b})
		text = append(text, b)
	}
	return text
}

// randomSchema is a satisfiable schema without issues.
func randomSchema(rng *rand.Rand, depth int) string {
	n := 6
	if depth > 0 {
		n = 11
	}
	sub := func() string { return randomSchema(rng, depth-1) }
	a, b := rng.IntN(2000)-1000, rng.IntN(300)
	switch rng.IntN(n) {
	case 0:
		return fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d}`, a, a+b)
	case 1:
		return fmt.Sprintf(`{"type":"number","minimum":%d.%d,"exclusiveMaximum":%d.%d}`, a, rng.IntN(100), a+b+1, rng.IntN(100))
	case 2:
		return fmt.Sprintf(`{"type":"string","minLength":%d,"maxLength":%d}`, b/60, b/60+b%7)
	case 3:
		return []string{`{"type":"string","format":"date"}`, `{"type":"string","format":"ipv6"}`, `{"type":"string","format":"email"}`,
			`{"type":"string","format":"date-time"}`, `{"type":"string","format":"duration"}`, `{"type":"string","format":"hostname"}`}[rng.IntN(6)]
	case 4:
		return []string{`{"type":"string","pattern":"^[a-z\"\\\\\\s]{1,3}$"}`, `{"pattern":"\\d|^[^a-m]$","type":"string"}`, `{"pattern":"^(\\S+ )?(x|y)*$","type":"string"}`}[rng.IntN(3)]
	case 5:
		return []string{`{"enum":["a",1,null,[1,{"b":2}]]}`, `{"const":"x\u0001\"é"}`, `true`, `{"type":["boolean","null"]}`}[rng.IntN(4)]
	case 6:
		return fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, sub(), b/100, b/100+b%4)
	case 7:
		return fmt.Sprintf(`{"prefixItems":[%s,%s],"items":%s,"minItems":%d,"type":"array"}`, sub(), sub(), sub(), rng.IntN(4))
	case 8:
		return fmt.Sprintf(`{"anyOf":[%s,%s]}`, sub(), sub())
	case 9:
		return fmt.Sprintf(`{"type":"object","additionalProperties":%s,"maxProperties":3}`, sub())
	}
	required := []string{``, `"a"`, `"b"`, `"a","c"`, `"d"`}[rng.IntN(5)]
	additional := []string{`false`, `true`, sub()}[rng.IntN(3)]
	if required == `"d"` {
		additional = sub()
	}
	return fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":%s,"c":%s},"required":[%s],"additionalProperties":%s}`, sub(), sub(), sub(), required, additional)
}

// How a text is cut into pieces makes no difference.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, row := range schemaRows {
		n, _, err := Schema(context.Background(), json.RawMessage(row.schema))
		if err != nil {
			t.Fatal(err)
		}
		g := compile(t, n)
		for i, text := range append(row.yes, row.not...) {
			want := i < len(row.yes)
			for range 5 {
				if got := matchesInPieces(rng, g, text); got != want {
					t.Errorf("%s: %s: got %t in pieces", name, text, got)
				}
			}
		}
	}
}

func matchesInPieces(rng *rand.Rand, g *Grammar, text string) bool {
	m := g.Matcher()
	for len(text) > 0 {
		n := 1 + rng.IntN(min(len(text), 6))
		piece := []byte(text[:n])
		text = text[n:]
		allowed := m.Allows(piece)
		if rng.IntN(3) == 0 {
			m = m.Clone()
		}
		if m.Accept(piece) != allowed {
			panic("Allows and Accept differ") // fails the test; its helper has no t
		}
		if !allowed {
			return false
		}
	}
	return m.Complete()
}
