package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// manyTurns returns a request of about 10 KB: a conversation.
func manyTurns() []byte {
	var turns []string
	for i := range 40 {
		turns = append(turns, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}]}`, strings.Repeat("one two three ", 8)+fmt.Sprint(i)),
			fmt.Sprintf(`{"role":"writer","content":%q}`, strings.Repeat("four five ", 9)))
	}
	return []byte(`{"model":"m","temperature":0.5,"seed":7,"turns":[` + strings.Join(turns, ",") + `]}`)
}

// manyHelpers returns a request of about 80 KB: 24 helpers with the schemas
// that agents send, and a few turns.
func manyHelpers() []byte {
	var helpers []string
	for i := range 24 {
		var properties []string
		for p := range 12 {
			properties = append(properties, fmt.Sprintf(`"field_%d":{"type":"string","description":%q,"enum":["a","b","c"],"minLength":1}`,
				p, strings.Repeat("What the field means. ", 7)))
		}
		helpers = append(helpers, fmt.Sprintf(`{"name":"helper_%d","schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{%s},"required":["field_0"],"additionalProperties":false}}`,
			i, strings.Join(properties, ",")))
	}
	return []byte(`{"model":"m","turns":[{"role":"user","content":[{"type":"text","text":"x","cache":{"type":"short"}}]}],"helpers":[` + strings.Join(helpers, ",") + `]}`)
}

// BenchmarkCheck compares checking with decoding the same bytes into any,
// and with what kin-openapi's own validator takes for a plain yes or no on
// top of that decoding.
func BenchmarkCheck(b *testing.B) {
	d := loadLetters(b)
	o := operation(b, d, "writeLetter")
	schema := d.spec.Components.Schemas["LetterRequest"].Value
	for name, body := range map[string][]byte{"turns": manyTurns(), "helpers": manyHelpers()} {
		b.Run(name+"/check", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, v := o.Check(body); v != nil {
					b.Fatal(v)
				}
			}
		})
		b.Run(name+"/any", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var value any
				if err := json.Unmarshal(body, &value); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/any and kin", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var value any
				decoder := json.NewDecoder(bytes.NewReader(body))
				decoder.UseNumber()
				if err := decoder.Decode(&value); err != nil {
					b.Fatal(err)
				}
				if err := schema.VisitJSON(value, openapi3.VisitAsRequest()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
