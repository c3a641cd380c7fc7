package scenario

import (
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// characters is text beyond ASCII, in and out.
func characters() []conformance.Scenario {
	scripts := []struct{ name, of, text string }{
		{"emoji", "emoji joined of several code points", "👩‍🚀🏳️‍🌈🇫🇷👍🏽"},
		{"arabic", "Arabic", "السلام عليكم"},
		{"cjk", "Chinese, Japanese and Korean", "汉字かな한글𠮷"},
		{"combining", "characters with combining marks", "e\u0301a\u0308o\u0302\u0323 ñ"},
	}
	var all [][]conformance.Scenario
	for _, s := range scripts {
		all = append(all, dialect.Each("unicode/whole-"+s.name, "Streams cut "+s.of+" between code points, and join to the plain text.", schemas,
			func(t *conformance.Trial, d dialect.Dialect) { wholeCharacters(t, d, s.text) }))
	}
	return slices.Concat(append(all,
		dialect.Each("unicode/arguments", "Streamed arguments of a tool call keep their characters whole.", tools, unicodeArguments),
		dialect.Each("unicode/cut-by-limit", "A limit of tokens inside a character leaves no broken text, plain or streamed.", schemas, cutByLimit),
		dialect.Each("unicode/input", "Text of all scripts is read, counted and answered.", nil, unicodeInput),
		dialect.Each("unicode/escapes", "Characters and their JSON escapes are the same text.", nil, escapes),
		dialect.Each("unicode/lone-surrogates", "A half of a surrogate pair in the input is refused as a bad request or answered, but never breaks the server.", nil, loneSurrogates),
	)...)
}

// say is a request whose answer must be an object with this text.
func say(t *conformance.Trial, text string) dialect.Request {
	r := dialect.Greedy(t.Models.Text, "Repeat as JSON: "+text, 40+6*len(text))
	r.Schema = dialect.Closed(map[string]any{"text": map[string]any{"type": "string", "enum": []string{text}}}, "text")
	return r
}

// said is the text of such an answer; false if it is not one.
func said(answer string) (string, bool) {
	var o struct {
		Text *string `json:"text"`
	}
	if json.Unmarshal([]byte(answer), &o) != nil || o.Text == nil {
		return "", false
	}
	return *o.Text, true
}

func wholeCharacters(t *conformance.Trial, d dialect.Dialect, text string) {
	r := say(t, text)
	plain, stream := d.Ask(t, r), d.Ask(t, streamed(r))
	got := plain.First().Text
	if value, ok := said(got); !ok || value != text && !strings.Contains(got, "\ufffd") {
		t.Skipf("the model cannot be made to say %q", text)
	}
	if strings.Contains(got, "\ufffd") {
		t.Errorf(plain.Exchange, "the text has a replacement character: %q", got)
	}
	for i, delta := range stream.Deltas {
		if !utf8.ValidString(delta) || strings.Contains(delta, "\ufffd") {
			t.Errorf(stream.Exchange, "piece %d of the stream is %q, which is no whole characters", i, delta)
		}
	}
	alike(t, known(t, d, r, plain), known(t, d, streamed(r), stream), differentText)
}

func unicodeArguments(t *conformance.Trial, d dialect.Dialect) {
	const text = "Zürich 東京 🗼"
	r := switching(t)
	r.MaxTokens = 150
	r.Tools[0].Parameters = dialect.Closed(map[string]any{"place": map[string]any{"type": "string", "enum": []string{text}}}, "place")
	plain, stream := d.Ask(t, r), d.Ask(t, streamed(r))
	if len(plain.First().Calls) != 1 || len(stream.First().Calls) != 1 {
		t.Skipf("the model makes no call, even if it must")
	}
	want, got := plain.First().Calls[0].Arguments, stream.First().Calls[0].Arguments
	if !sameJSON(got, want) || strings.Contains(got, "\ufffd") {
		t.Errorf(stream.Exchange, "the streamed arguments are %s, and the plain ones %s", got, want)
	}
}

func cutByLimit(t *conformance.Trial, d dialect.Dialect) {
	r := say(t, strings.Repeat("🦑𓂀", 4))
	for _, n := range []int{7, 8, 9, 10} {
		r.MaxTokens = n
		alike(t, asking(t, d, r), asking(t, d, streamed(r)), func(left, right *dialect.Answer) string {
			want, got := strings.TrimRight(left.First().Text, "\ufffd"), strings.TrimRight(right.First().Text, "\ufffd")
			if got != want || strings.Contains(want, "\ufffd") {
				return fmt.Sprintf("cut at %d tokens, the stream joins to %q, and the plain reply is %q", n, got, want)
			}
			return ""
		})
	}
}

func unicodeInput(t *conformance.Trial, d dialect.Dialect) {
	least := d.Ask(t, dialect.Greedy(t.Models.Text, "a", 1)).Usage.Input
	for _, text := range []string{"السلام عليكم", "汉字かな한글𠮷", "👩‍🚀🏳️‍🌈🇫🇷", "e\u0301a\u0308o\u0302", "\u202eabc\u202c\u200b\ufeff", "a\u0000b", "\U0010ffff\ue000"} {
		thrice := strings.Join([]string{text, text, text}, " ")
		a := d.Ask(t, dialect.Greedy(t.Models.Text, thrice, 1))
		if a.Usage.Input <= least {
			t.Errorf(a.Exchange, "%q counts %d tokens, and \"a\" counts %d", thrice, a.Usage.Input, least)
		}
	}
}

func escapes(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "«é🙂»", 4)
	want := d.Ask(t, r)
	raw, err := json.Marshal(d.For(t, r).Body, json.Deterministic(true))
	if err != nil {
		t.Fatalf(want.Exchange, "%v", err)
	}
	body := strings.NewReplacer("«", `\u00ab`, "é", `\u00e9`, "🙂", `\ud83d\ude42`, "»", `\u00bb`).Replace(string(raw))
	compare(t, known(t, d, r, want), func() *dialect.Answer {
		got, err := d.Read(t.OK(conformance.Request{Path: d.Path, Body: body}))
		if err != nil {
			t.Fatalf(got.Exchange, "%v", err)
		}
		return got
	})
}

func loneSurrogates(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "HALF", 1)
	raw, _ := json.Marshal(d.For(t, r).Body, json.Deterministic(true))
	for _, half := range []string{`\ud83d`, `\ude42`, `x\ud83dx`, `\ude42\ud83d`} {
		x := t.Do(conformance.Request{Path: d.Path, Body: strings.ReplaceAll(string(raw), "HALF", half)})
		if x.Status != 200 && x.Status != 400 {
			t.Errorf(x, "status %d, want 200 or 400", x.Status)
		}
		if !utf8.Valid(x.Body) {
			t.Errorf(x, "the reply is not UTF-8")
		}
	}
}
