//go:build llamacpp && cgo

package llamacpp

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"slices"
	"strings"
)

// node is a JSON value that keeps the order of its members.
type node struct {
	kind  jsontext.Kind // '{', '[', '"' or, for all that is written as it is, '0'
	text  string        // of a string, decoded, or of what is written as it is
	names []string      // of members
	kids  []*node
}

var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// readNode reads one JSON value and nothing behind it.
func readNode(body []byte) (*node, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body), lenient...)
	n, err := nextNode(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return n, nil
}

func nextNode(d *jsontext.Decoder) (*node, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: token.Kind()}
	switch n.kind {
	case '"':
		n.text = token.String()
	case '{', '[':
		for d.PeekKind() != '}' && d.PeekKind() != ']' {
			if n.kind == '{' {
				name, err := d.ReadToken()
				if err != nil {
					return nil, err
				}
				n.names = append(n.names, name.String())
			}
			kid, err := nextNode(d)
			if err != nil {
				return nil, err
			}
			n.kids = append(n.kids, kid)
		}
		_, err = d.ReadToken()
	default:
		n.kind, n.text = '0', token.String()
	}
	return n, err
}

// write appends the value. It does not ask whether the text of a number is one.
func (n *node) write(b []byte) []byte {
	switch n.kind {
	case '"':
		return appendString(b, n.text)
	case '{', '[':
		b = append(b, byte(n.kind))
		for i, kid := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			if n.kind == '{' {
				b = append(appendString(b, n.names[i]), ':')
			}
			b = kid.write(b)
		}
		return append(b, byte(n.kind)+2)
	}
	return append(b, n.text...)
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\ufffd"))
	return b
}

// set gives an object a member, in place of one that it has.
func (n *node) set(name, value string) {
	if n.kind != '{' {
		return
	}
	kid := &node{kind: '0', text: value}
	if i := slices.Index(n.names, name); i >= 0 {
		n.kids[i] = kid
		return
	}
	n.names, n.kids = append(n.names, name), append(n.kids, kid)
}

func (n *node) has(name string) bool { return slices.Contains(n.names, name) }

// all are the value and those in it.
func (n *node) all() []*node {
	list := []*node{n}
	for i := 0; i < len(list); i++ {
		list = append(list, list[i].kids...)
	}
	return list
}

// eachText changes all strings, names of members among them.
func (n *node) eachText(change func(string) string) {
	for _, at := range n.all() {
		if at.kind == '"' {
			at.text = change(at.text)
		}
		for i := range at.names {
			at.names[i] = change(at.names[i])
		}
	}
}

// texts are what strings of a client could harm with.
var wholeTexts = []string{
	"<|im_end|>", "<|im_start|>system\n", "<|endoftext|>", "<|im_", "end|>", "</tool_call>", "<tool_call>\n{", "</think>", "<think>",
	"[INST]", "<|eot_id|>", "<|channel|>final<|message|>", "<bos>", "\u0000", "\u2028", "\ufffd", "\U00100000\U0010fffd", "e\u0301", "👩‍🚀", "{{ x }}", "{% if %}", "data: [DONE]\n\n",
	"call", "a", " ", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "\n\n\n\n\n\n\n\n", "0", "\"", "\\", "\r\n",
}

// wholeValues are values, and schemas that are hard on grammars.
var wholeValues = []string{
	"null", "true", "0", "-1", "1e3", "256.0", "1e999", "9007199254740993", "[]", "{}", `""`, `[[[[[[[[[[]]]]]]]]]]`, `{"type":"text","text":"x"}`,
	`{"type":"object"}`, `{"type":"array","items":{"$ref":"#"}}`, `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#/$defs/a"}}]}}}`,
	`{"type":"string","pattern":"^(a|ab|b)*c{0,50}$","maxLength":900}`, `{"type":"array","items":{"type":"integer","minimum":-17,"maximum":4711},"minItems":3,"maxItems":700}`,
	`{"enum":["a",1,null,{"b":[true]}]}`, `{"const":"<|im_end|>"}`, `{"type":"number","multipleOf":0.1}`, `{"type":"string","format":"date-time"}`, `false`,
	`{"type":"object","properties":{"<tool_call>":{"type":"string"},"b":{"type":["number","null"]}},"required":["<tool_call>"],"additionalProperties":false}`,
	`{"allOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"required":["a"]}]}`, `{"oneOf":[{"type":"string"},{"type":"integer"}]}`,
}

// wholeMembers are members of bodies that change how an answer is made.
var wholeMembers = [][2]string{
	{"stream", "true"}, {"stream", "false"}, {"n", "3"}, {"best_of", "4"}, {"max_tokens", "7"}, {"max_completion_tokens", "40"}, {"max_output_tokens", "33"},
	{"temperature", "0"}, {"temperature", "2"}, {"top_p", "0.1"}, {"top_k", "3"}, {"logprobs", "true"}, {"logprobs", "3"}, {"top_logprobs", "20"}, {"echo", "true"}, {"suffix", `"end"`},
	{"stop", `["a","\n",""]`}, {"stop_sequences", `["e","}"]`}, {"logit_bias", `{"0":100,"17":-100}`}, {"seed", "-1"}, {"frequency_penalty", "2"}, {"presence_penalty", "-2"},
	{"response_format", `{"type":"json_object"}`}, {"response_format", `{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":SCHEMA}}`},
	{"text", `{"format":{"type":"json_schema","name":"n","schema":SCHEMA}}`}, {"output_config", `{"format":{"type":"json_schema","schema":SCHEMA}}`},
	{"tools", `[{"type":"function","function":{"name":"f","parameters":SCHEMA}}]`}, {"tools", `[{"type":"function","name":"f","parameters":SCHEMA}]`}, {"tools", `[{"name":"f","input_schema":SCHEMA}]`},
	{"tool_choice", `"required"`}, {"tool_choice", `{"type":"any"}`}, {"tool_choice", `{"type":"tool","name":"f"}`}, {"tool_choice", `{"type":"function","function":{"name":"f"}}`}, {"tool_choice", `"none"`},
	{"parallel_tool_calls", "false"}, {"thinking", `{"type":"enabled","budget_tokens":1024}`}, {"reasoning", `{"effort":"high","summary":"auto"}`}, {"reasoning_effort", `"none"`},
	{"stream_options", `{"include_usage":true}`}, {"system", `[{"type":"text","text":"s"}]`}, {"instructions", `"i"`}, {"input", `["a","b"]`}, {"dimensions", "3"}, {"encoding_format", `"base64"`}, {"prompt", `["a",[1,2,3]]`},
}

// Most that mutation makes of a body.
const (
	mostNodes   = 5000
	mostMutated = 128 << 10
)

// recipe reads what to do from the bytes of a fuzzer.
type recipe struct{ bytes []byte }

func (r *recipe) next(n int) int {
	if len(r.bytes) == 0 || n == 0 {
		return 0
	}
	x := int(r.bytes[0])
	r.bytes = r.bytes[1:]
	if n > 256 && len(r.bytes) > 0 {
		x = x<<8 | int(r.bytes[0])
		r.bytes = r.bytes[1:]
	}
	return x % n
}

func (r *recipe) text() string { return wholeTexts[r.next(len(wholeTexts))] }

func (r *recipe) value() *node {
	n, err := readNode([]byte(wholeValues[r.next(len(wholeValues))]))
	if err != nil {
		panic(err) // the list is ours
	}
	return n
}

// mutate changes the body as the bytes say.
func mutate(root *node, r *recipe) {
	for step := 0; len(r.bytes) > 0 && step < 24; step++ {
		all := root.all()
		if len(all) > mostNodes {
			return
		}
		at, other := all[r.next(len(all))], all[r.next(len(all))]
		switch r.next(9) {
		case 0, 1:
			m := wholeMembers[r.next(len(wholeMembers))]
			root.set(m[0], strings.ReplaceAll(m[1], "SCHEMA", wholeValues[r.next(len(wholeValues))]))
		case 2:
			at.multiply(r)
		case 3:
			at.remove(r)
		case 4:
			*at = *r.value()
		case 5:
			at.blend(r)
		case 6:
			kid := *at
			*at = node{kind: '[', kids: []*node{&kid}}
		case 7:
			*at, *other = *other.copied(), *at.copied()
		case 8:
			if len(at.names) > 0 {
				at.names[r.next(len(at.names))] = r.text()
			}
		}
	}
}

func (n *node) multiply(r *recipe) {
	if len(n.kids) == 0 {
		return
	}
	i, times := r.next(len(n.kids)), 1+r.next(40)
	for range times {
		n.kids = append(n.kids, n.kids[i].copied())
		if n.kind == '{' {
			n.names = append(n.names, n.names[i]+r.text())
		}
	}
}

func (n *node) remove(r *recipe) {
	if len(n.kids) == 0 {
		return
	}
	i := r.next(len(n.kids))
	n.kids = slices.Delete(n.kids, i, i+1)
	if n.kind == '{' {
		n.names = slices.Delete(n.names, i, i+1)
	}
}

// blend puts a text somewhere into a string, many times.
func (n *node) blend(r *recipe) {
	if n.kind != '"' {
		return
	}
	text, at, times := r.text(), r.next(len(n.text)+1), 1+r.next(256)%64
	if len(n.text)+len(text)*times < 1<<16 {
		n.text = n.text[:at] + strings.Repeat(text, times) + n.text[at:]
	}
}

func (n *node) copied() *node {
	c := *n
	c.names = slices.Clone(n.names)
	c.kids = make([]*node, len(n.kids))
	for i, kid := range n.kids {
		c.kids[i] = kid.copied()
	}
	return &c
}
