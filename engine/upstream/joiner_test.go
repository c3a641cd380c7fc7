package upstream

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"github.com/diglot/diglot/engine"
)

// TestRawText holds the reading of strings against that of the library, which
// marks what it cannot join.
func TestRawText(t *testing.T) {
	for _, text := range []string{`""`, `"a€😀"`, `"\"\\\/\b\f\n\r\t"`, `"\u0041\u20ac\ud83d\ude00\u0000"`, `"\ud83d"`, `"\ude00a"`, `"\ud83d\ud83d\ude00"`, `"\ud83dx"`, `null`} {
		var got rawText
		var want string
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		_ = json.Unmarshal([]byte(text), &want)
		var j joiner
		if joined := j.add(got) + j.rest(); joined != want {
			t.Errorf("%s is %q, want %q", text, joined, want)
		}
	}
	for _, text := range []string{`1`, `{}`, `["a"]`, `true`} {
		if err := json.Unmarshal([]byte(text), new(rawText)); err == nil {
			t.Errorf("%s is taken for a text", text)
		}
	}
}

// TestJoiner cuts texts anywhere, between bytes and between the halves of
// surrogate pairs: the pieces join to what a decoder of others makes of all.
func TestJoiner(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b []byte
		for range 1 + r.IntN(5) {
			c := utf8.AppendRune(nil, []rune("aé€😀\u0800\ud7ff")[r.IntN(6)])
			if r.IntN(3) == 0 {
				c = c[:1+r.IntN(len(c))]
			}
			b = append(b, c...)
		}
		want, err := unicode.UTF8.NewDecoder().String(string(b))
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(b) + 1 {
			var j joiner
			if got := j.add(rawText(b[:i])) + j.add(rawText(b[i:])) + j.rest(); got != want {
				t.Fatalf("%q cut at %d: %q, want %q", b, i, got, want)
			}
		}
	}
}

// TestCutCharacters is about servers that cut texts between the bytes of a
// character, or between its UTF-16 units.
func TestCutCharacters(t *testing.T) {
	const smile = "😀"
	high, low := utf16.EncodeRune([]rune(smile)[0])
	cuts := map[string][]string{
		"bytes":        {smile[:1], smile[1:3], smile[3:]},
		"units":        {fmt.Sprintf(`\u%04x`, high), fmt.Sprintf(`\u%04x`, low)},
		"cut off":      {"a", smile[:3]},
		"a unit alone": {"a", fmt.Sprintf(`\u%04x`, high)},
	}
	members := map[string]func(string) string{
		"text":      func(s string) string { return says(`"content":"` + s + `"`) },
		"reasoning": func(s string) string { return says(`"reasoning_content":"` + s + `"`) },
		"arguments": func(s string) string { return call(0, `"id":"a","function":{"name":"f","arguments":"`+s+`"}`) },
		"raw text":  func(s string) string { return `{"choices":[{"index":0,"text":"` + s + `"}]}` },
	}
	for cut, pieces := range cuts {
		want := smile
		if pieces[0] == "a" {
			want = "a\ufffd"
		}
		for name, chunk := range members {
			t.Run(name+"/"+cut, func(t *testing.T) {
				e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
					for _, piece := range pieces {
						stream(w, chunk(piece))
					}
					stream(w, end("length"), done)
				})
				r, err := engine.Collect(e.Generate(t.Context(), ask("u")))
				if err != nil {
					t.Fatal(err)
				}
				block := r.Choices[0].Blocks[0]
				if got := block.Text + block.Arguments; got != want {
					t.Errorf("%q, want %q of %q", got, want, strings.Join(pieces, "|"))
				}
			})
		}
	}
}
