package handlerstest

import (
	"fmt"
	"strings"
)

// ChatBody is a chat request of about 10 KB.
func ChatBody() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","temperature":0.7,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"You are a helpful assistant."}`)
	for i := range 20 {
		fmt.Fprintf(&b, `,{"role":"user","content":"%s"},{"role":"assistant","content":[{"type":"text","text":"%s"}]}`,
			sentence(i, 180), sentence(i+1, 180))
	}
	b.WriteString(`,{"role":"user","content":"And now?"}]}`)
	return []byte(b.String())
}

// MessagesBody is a messages request of about 80 KB with 24 tools, as coding agents send
// it.
func MessagesBody() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m","max_tokens":32000,"stream":true,"thinking":{"type":"adaptive"},"metadata":{"user_id":"u"},`+
		`"system":[{"type":"text","text":"%s"},{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],"tools":[`,
		sentence(1, 100), sentence(2, 6000))
	for i := range 24 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"%s","input_schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{`, i, sentence(i, 1200))
		for j := range 8 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"field_%d":{"type":"string","description":"%s","enum":["one","two","three"]}`, j, sentence(j, 100))
		}
		b.WriteString(`},"required":["field_0","field_1"],"additionalProperties":false}}`)
	}
	fmt.Fprintf(&b, `],"messages":[{"role":"user","content":[{"type":"text","text":"%s"},{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}]}`,
		sentence(3, 4000), sentence(4, 500))
	for i := range 5 {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"thinking","thinking":"%s","signature":""},{"type":"tool_use","id":"toolu_%d","name":"tool_1","input":{"field_0":"one","field_1":"two"}}]}`,
			sentence(i, 300), i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":[{"type":"text","text":"%s"}]}]}`, i, sentence(i, 1200))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// sentence returns n bytes of JSON text like prose, with newlines, quotes and characters
// beyond ASCII.
func sentence(seed, n int) string {
	const prose = `The quick brown fox jumps over the lazy dog,\nand says \"so be it\" to the café across the road. `
	s := strings.Repeat(prose, n/len(prose)+2)
	start := seed % 20 // within the first words, which are plain ASCII
	end := start + n
	for s[end-1] == '\\' || s[end-1] >= 0x80 {
		end-- // not inside an escape or a character
	}
	return s[start:end]
}
