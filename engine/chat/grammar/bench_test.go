package grammar

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// benchPlaces are texts after which a token is offered over and over.
var benchPlaces = []struct{ name, schema, before, token string }{
	{"string", `{"type":"object","properties":{"text":{"type":"string"}}}`, `{"text": "some `, "word"},
	{"bounded string", `{"type":"object","properties":{"text":{"type":"string","maxLength":100000}}}`, `{"text": "some `, "word"},
	{"pattern", `{"type":"object","properties":{"text":{"type":"string","pattern":"^[a-z ]*$"}}}`, `{"text": "some `, "word"},
	{"any value", `{}`, `[{"a": [1, "some `, "word"},
}

func BenchmarkAllows(b *testing.B) {
	for _, p := range benchPlaces {
		for name, token := range map[string]string{"yes": p.token, "no": "wo\x01d"} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				m := benchMatcher(b, p.schema, p.before)
				token := []byte(token)
				b.ReportAllocs()
				for b.Loop() {
					m.Allows(token)
				}
			})
		}
	}
}

func BenchmarkAccept(b *testing.B) {
	for _, p := range benchPlaces {
		b.Run(p.name, func(b *testing.B) {
			m := benchMatcher(b, p.schema, p.before)
			token := []byte(p.token)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if n++; n%20_000 == 0 { // before a bounded string is full
					b.StopTimer()
					m = benchMatcher(b, p.schema, p.before)
					b.StartTimer()
				}
				if !m.Accept(token) {
					b.Fatal("not accepted")
				}
			}
		})
	}
}

func benchMatcher(b *testing.B, schema, before string) *Matcher {
	b.Helper()
	n, _, err := Schema(context.Background(), json.RawMessage(schema))
	if err != nil {
		b.Fatal(err)
	}
	g, err := Compile(context.Background(), n)
	if err != nil {
		b.Fatal(err)
	}
	m := g.Matcher()
	if !m.Accept([]byte(before)) {
		b.Fatal("not accepted")
	}
	return m
}

// A whole text in tokens of four bytes, by a new matcher.
func BenchmarkText(b *testing.B) {
	schema, text := wideSchema(30)
	n, _, err := Schema(context.Background(), json.RawMessage(schema))
	if err != nil {
		b.Fatal(err)
	}
	g, err := Compile(context.Background(), n)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m := g.Matcher()
		for at := 0; at < len(text); at += 4 {
			if !m.Accept([]byte(text[at:min(at+4, len(text))])) {
				b.Fatal("not accepted")
			}
		}
	}
}

// What a request with large tools pays once.
func BenchmarkSchema(b *testing.B) {
	for _, n := range []int{10, 200} {
		schema, _ := wideSchema(n)
		b.Run(fmt.Sprintf("%d bytes", len(schema)), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Schema(context.Background(), json.RawMessage(schema)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// wideSchema is an object with n properties, and a text for it.
func wideSchema(n int) (schema, text string) {
	var properties, members []string
	for i := range n {
		properties = append(properties, fmt.Sprintf(`"property_%d":{"type":"object","description":"What it is for, in a few words.","properties":{"kind":{"enum":["small","large"]},"values":{"type":"array","items":{"type":"integer","minimum":0}}},"required":["kind"]}`, i))
		members = append(members, fmt.Sprintf(`"property_%d": {"kind": "large", "values": [1, 20, 300]}`, i))
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`, `{` + strings.Join(members, ", ") + `}`
}
