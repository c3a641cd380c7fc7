package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// chat returns a chat completion request of about 10 KB: a conversation.
func chat() []byte {
	var turns []string
	for i := range 33 {
		turns = append(turns, fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q}]}`, strings.Repeat("one two three ", 8)+fmt.Sprint(i)),
			fmt.Sprintf(`{"role":"assistant","content":%q}`, strings.Repeat("four five ", 9)))
	}
	return []byte(`{"model":"m","temperature":0.5,"seed":7,"stream":true,"messages":[` + strings.Join(turns, ",") + `]}`)
}

// messages returns a messages request of about 80 KB as agents send it: 24
// tools with their schemas, a long system text and a few turns.
func messages() []byte {
	var tools []string
	for i := range 24 {
		var properties []string
		for p := range 12 {
			properties = append(properties, fmt.Sprintf(`"field_%d":{"type":"string","description":%q,"enum":["a","b","c"],"minLength":1}`,
				p, strings.Repeat("What the field means. ", 7)))
		}
		tools = append(tools, fmt.Sprintf(`{"type":"custom","name":"tool_%d","input_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{%s},"required":["field_0"],"additionalProperties":false}}`,
			i, strings.Join(properties, ",")))
	}
	return []byte(`{"model":"m","max_tokens":32000,"stream":true,"metadata":{"user_id":"u"},"system":[{"type":"text","text":"` +
		strings.Repeat("Be kind. ", 700) + `","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"tools":[` +
		strings.Join(tools, ",") + `]}`)
}

type benchmarkedBody struct {
	path string
	load func() (*Document, error)
	body []byte
}

func benchmarked() []benchmarkedBody {
	return []benchmarkedBody{{"/v1/chat/completions", OpenAI, chat()}, {"/v1/messages", Anthropic, messages()}}
}

// TestBenchmarkedBodies checks that the benchmark measures valid requests.
func TestBenchmarkedBodies(t *testing.T) {
	for _, body := range benchmarked() {
		d, err := body.load()
		if err != nil {
			t.Fatal(err)
		}
		o, ok := d.Route("POST", body.path)
		if !ok {
			t.Fatalf("no operation at %s", body.path)
		}
		if _, v := o.Check(body.body); v != nil {
			t.Errorf("%s: %v", body.path, v)
		}
	}
}

// BenchmarkCheck compares checking with decoding the same bytes into any, and with
// kin-openapi's validator on top of that.
func BenchmarkCheck(b *testing.B) {
	for _, bb := range benchmarked() {
		d, err := bb.load()
		if err != nil {
			b.Fatal(err)
		}
		o, ok := d.Route("POST", bb.path)
		if !ok {
			b.Fatalf("no operation at %s", bb.path)
		}
		schema := d.spec.Paths.Value(bb.path).Post.RequestBody.Value.Content[jsonType].Schema.Value
		name := fmt.Sprintf("%s %d KB", o.ID, len(bb.body)/1000)
		measure(b, name+"/check", bb.body, func() error {
			if _, v := o.Check(bb.body); v != nil {
				return v
			}
			return nil
		})
		measure(b, name+"/unmarshal into any", bb.body, func() error {
			var value any
			return json.Unmarshal(bb.body, &value)
		})
		measure(b, name+"/decode and kin", bb.body, func() error {
			var value any
			decoder := json.NewDecoder(bytes.NewReader(bb.body))
			decoder.UseNumber()
			if err := decoder.Decode(&value); err != nil {
				return err
			}
			return schema.VisitJSON(value, openapi3.VisitAsRequest())
		})
	}
}

func measure(b *testing.B, name string, body []byte, do func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if err := do(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
