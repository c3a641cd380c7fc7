package openapi

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func loadLetters(t testing.TB) *Document {
	t.Helper()
	text, err := os.ReadFile("testdata/letters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func operation(t testing.TB, d *Document, id string) *Operation {
	t.Helper()
	o, ok := d.Operation(id)
	if !ok {
		t.Fatalf("no operation %s", id)
	}
	return o
}

// with returns a small valid request with more members.
func with(members string) string {
	return `{"model":"m","turns":[{"role":"user","content":"x"}]` + members + `}`
}

// turn returns a valid request whose one turn is given.
func turn(turn string) string { return `{"model":"m","turns":[` + turn + `]}` }

func parts(parts string) string { return turn(`{"role":"user","content":[` + parts + `]}`) }

// refusal is a body and what is wrong with it.
type refusal struct {
	name, body string
	rule       Rule
	want       string // path and reason
}

func TestParseRefuses(t *testing.T) {
	checkRefusals(t, []refusal{
		{"empty body", ``, RuleSyntax, "the body is empty"},
		{"blank body", " \n", RuleSyntax, "the body is empty"},
		{"cut short", `{"model":"m"`, RuleSyntax, "the body ends too early"},
		{"not JSON", `{"model":x}`, RuleSyntax, "model is not valid JSON at byte 9"},
		{"a comma behind the last member", `{"model":"m","turns":[] , }`, RuleSyntax, "the body has a trailing comma at byte 24"},
		{"a comma behind the last item", `{"model":"m","turns":[{"role":"user"},]}`, RuleSyntax, "turns has a trailing comma at byte 37"},
		{"a comma deep down", parts(`{"type":"text","text":"a",}`), RuleSyntax, "turns[0].content[0] has a trailing comma at byte 73"},
		{"a comma too many", `{"model":"m",,"turns":[]}`, RuleSyntax, "the body is not valid JSON at byte 13"},
		{"bytes that are not UTF-8", turn(`{"role":"user","content":"aé` + "\xff" + `"}`), RuleSyntax, "the body is not UTF-8: there is a byte 0xff at byte 51"},
		{"half a character", `{"model":"` + "\xe2\x9c" + `"}`, RuleSyntax, "the body is not UTF-8: there is a byte 0xe2 at byte 10"},
		{"a surrogate in UTF-8", `{"model":"` + "\xed\xa0\x80" + `"}`, RuleSyntax, "the body is not UTF-8: there is a byte 0xed at byte 10"},
		{"text behind", with("") + "{}", RuleSyntax, "the body has text after its JSON value"},
		{"twice", with(`,"seed":1,"seed":2`), RuleDuplicate, "seed appears twice"},
		{"twice in free JSON", turn(`{"role":"writer","calls":[{"name":"f","input":{"a":1,"a":2}}]}`), RuleDuplicate, "turns[0].calls[0].input.a appears twice"},
		{"twice by escape", with(`,"seed":1,"s\u0065ed":2`), RuleDuplicate, "seed appears twice"},
		{"too deep", with(`,"helpers":[{"name":"f","schema":{"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}]`), RuleDepth, "is nested too deep"},
	})
}

func TestCheckRefuses(t *testing.T) {
	checkRefusals(t, []refusal{
		{"no object", `[1]`, RuleType, "the body must be an object"},
		{"null", `null`, RuleType, "the body must be an object"},
		{"absent", `{"turns":[{"role":"user","content":"x"}]}`, RuleRequired, "model is required"},
		{"null for required", `{"model":null,"turns":[{"role":"user","content":"x"}]}`, RuleRequired, "model is required"},
		{"empty string", `{"model":"","turns":[{"role":"user","content":"x"}]}`, RuleLength, "model must not be empty"},
		{"empty list", `{"model":"m","turns":[]}`, RuleLength, "turns must not be empty"},
		{"null in a list", turn(`null`), RuleType, "turns[0] must be an object"},
		{"wrong type", with(`,"seed":"1"`), RuleType, "seed must be an integer"},
		{"a fraction for an integer", with(`,"seed":1.5`), RuleType, "seed must be an integer"},
		{"integer beyond 64 bits", with(`,"seed":9223372036854775808`), RuleRange, "seed is out of range"},
		{"integer with a huge exponent", with(`,"seed":1e999999999`), RuleRange, "seed is out of range"},
		{"wrong though it has no effect", with(`,"pace":"fast"`), RuleType, "pace must be an integer"},
		{"integer by exponent, one beyond 64 bits", with(`,"seed":9.223372036854775808e18`), RuleRange, "seed is out of range"},
		{"fraction that no float holds", with(`,"seed":9007199254740993.5`), RuleType, "seed must be an integer"},
		{"integer by exponent beyond 64 bits", with(`,"seed":1e30`), RuleRange, "seed is out of range"},
		{"beyond float", with(`,"temperature":1e999`), RuleRange, "temperature is out of range"},
		{"range", with(`,"temperature":2.5`), RuleRange, "temperature must be between 0 and 2"},
		{"range of a nullable", with(`,"temperature":-1`), RuleRange, "temperature must be between 0 and 2"},
		{"type of a nullable", with(`,"temperature":"hot"`), RuleType, "temperature must be a number"},
		{"enum", with(`,"mood":"odd"`), RuleEnum, "mood must be one of: warm, cold; \"odd\" was sent"},
		{"enum, by a number", with(`,"mood":5`), RuleType, "mood must be one of: warm, cold; 5 was sent"},
		{"enum, by an object", with(`,"mood":{"a":` + "\n\t" + `[` + strings.Repeat("1,", 40) + `1]}`), RuleType, `mood must be one of: warm, cold; {"a": [` + strings.Repeat("1,", 26) + "1… was sent"},
		{"enum, by a long text", with(`,"mood":"` + strings.Repeat("é\\n", 40) + `"`), RuleEnum, "mood must be one of: warm, cold; \"" + strings.Repeat(`é\n`, 30) + "…\" was sent"},
		{"enum, by a text with a quote", with(`,"mood":"a\"b"`), RuleEnum, `mood must be one of: warm, cold; "a\"b" was sent`},
		{"partial", with(`,"copies":2`), RuleRange, "copies must be at most 1: One letter at a time"},
		{"outside of partial too", with(`,"copies":0`), RuleRange, "copies must be between 1 and 128"},
		{"refused", with(`,"parent":"p"`), RuleRefused, "parent is not supported: Send the whole conversation instead"},
		{"union: list too long", with(`,"stop":["a","b","c"]`), RuleLength, "stop must have at most 2 items"},
		{"union: item too short", with(`,"stop":["a",""]`), RuleLength, "stop[1] must not be empty"},
		{"union: no branch", with(`,"stop":3`), RuleType, "stop must be a string or an array"},
		{"name in a map", with(`,"bias":{"1":1,"abcdefghijklmnopqrstuvwxyz":2}`), RuleLength,
			`bias has the field "abcdefghijklmnopqrstuvwxyz", whose name must have at most 20 characters`},
		{"map value", with(`,"bias":{"1":200}`), RuleRange, "bias[1] must be between -100 and 100"},
		{"map value null", with(`,"bias":{"a":null}`), RuleType, "bias.a must be a number"},
		{"no discriminator", turn(`{"content":"x"}`), RuleRequired, "turns[0].role is required"},
		{"null discriminator", turn(`{"role":null,"content":"x"}`), RuleRequired, "turns[0].role is required"},
		{"odd discriminator", turn(`{"role":"system","content":"x"}`), RuleEnum, "turns[0].role must be one of: user, writer; \"system\" was sent"},
		{"number as discriminator", turn(`{"role":1,"content":"x"}`), RuleType, "turns[0].role must be one of: user, writer; 1 was sent"},
		{"late discriminator", turn(`{"content":5,"role":"user"}`), RuleType, "turns[0].content must be a string or an array"},
		{"required in a branch", turn(`{"role":"user"}`), RuleRequired, "turns[0].content is required"},
		{"string length", turn(`{"role":"user","content":"x","name":"abcdef"}`), RuleLength, "turns[0].name must have at most 5 characters"},
		{"length counts characters", turn(`{"role":"user","content":"x","name":"éééé\u00e9"}`), RulePattern, "turns[0].name must match ^[a-z]+$"},
		{"part without its member", parts(`{"type":"text"}`), RuleRequired, "turns[0].content[0].text is required"},
		{"refused part", parts(`{"type":"text","text":"a"},{"type":"sound"}`), RuleRefused, "turns[0].content[1] with the type \"sound\" is not supported: Sound is not heard"},
		{"unknown part lists what works", parts(`{"type":"video"}`), RuleEnum, "turns[0].content[0].type must be one of: text, picture; \"video\" was sent"},
		{"without discriminator it is the branch that needs none", with(`,"enclosures":[{"url":"u"}]`), RuleRequired, "enclosures[0].text is required"},
		{"a known discriminator keeps its rules", with(`,"enclosures":[{"kind":"photo"}]`), RuleRequired, "enclosures[0].url is required"},
		{"number as discriminator, with a default", with(`,"enclosures":[{"kind":1}]`), RuleType, "enclosures[0].kind must be a string; 1 was sent"},
		{"multiple", parts(`{"type":"picture","url":"u","size":3}`), RuleRange, "turns[0].content[0].size must be a multiple of 2"},
		{"minimum", parts(`{"type":"picture","url":"u","size":0}`), RuleRange, "turns[0].content[0].size must be at least 1"},
		{"free JSON must be an object", turn(`{"role":"writer","calls":[{"name":"f","input":"{}"}]}`), RuleType, "turns[0].calls[0].input must be an object"},
	})
}

func checkRefusals(t *testing.T, tests []refusal) {
	t.Helper()
	o := operation(t, loadLetters(t), "writeLetter")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, v := o.Check([]byte(tt.body))
			if v == nil {
				t.Fatalf("no violation for %.200s", tt.body)
			}
			got := v.Error()
			if tt.rule == RuleDepth {
				got = v.Reason
			}
			if v.Rule != tt.rule || got != tt.want {
				t.Errorf("got %s: %s\nwant %s: %s", v.Rule, got, tt.rule, tt.want)
			}
		})
	}
}

func TestCheckAccepts(t *testing.T) {
	o := operation(t, loadLetters(t), "writeLetter")
	tests := []struct {
		name, body string
		want       string // body to decode; empty: the same text
		ignored    string
	}{
		{"plain", with(``), "", ""},
		{"null means absence", with(`,"seed":null,"stop":null,"parent":null,"labels":null,"stream":true`), with(`,"stream":true`), ""},
		{"null that the schema allows stays", with(`,"temperature":null,"mood":null`), "", ""},
		{"null has no limit", with(`,"copies":null`), "", ""},
		{"null inside free JSON stays", with(`,"helpers":[{"name":"f","schema":{"b":null,"a":[null, 1.0]}}]`), "", ""},
		{"null deep down", turn(`{"role":"writer","content":null,"calls":null}`), turn(`{"role":"writer","content":null}`), ""},
		{"zero is a value", with(`,"temperature":0,"seed":0,"stream":false`), "", ""},
		{"integers that no float holds", with(`,"seed":9007199254740993.0,"copies":1`), with(`,"seed":9007199254740993,"copies":1`), ""},
		{"the largest integer with an exponent", with(`,"seed":9.223372036854775807e18`), with(`,"seed":9223372036854775807`), ""},
		{"the least integer with a fraction", with(`,"seed":-9223372036854775808.000`), with(`,"seed":-9223372036854775808`), ""},
		{"digits behind an exponent that takes them away", with(`,"seed":1200e-2`), with(`,"seed":12`), ""},
		{"integers in other spellings", with(`,"seed":1.0,"copies":10e-1`), with(`,"seed":1,"copies":1`), ""},
		{"with an exponent", with(`,"stream":true,"seed":1E+2,"pace":9.007199254740992e15`), with(`,"stream":true,"seed":100,"pace":9007199254740992`), ""},
		{"zeros", with(`,"seed":-0.0,"stream":true,"pace":0e999999999`), with(`,"seed":0,"stream":true,"pace":0`), ""},
		{"needs another member", with(`,"pace":3,"stream":false`), with(`,"stream":false`), "pace"},
		{"and that is not there", with(`,"pace":3`), with(``), "pace"},
		{"and that is", with(`,"pace":3,"stream":true`), "", ""},
		{"largest integer", with(`,"seed":9223372036854775807`), "", ""},
		{"unknown member", with(`,"Temperature":5,"x":{"y":1}`), with(``), "Temperature x"},
		{"unknown null", with(`,"x":null`), with(``), ""},
		{"ignored member of any type", with(`,"labels":5`), with(``), "labels"},
		{"ignored deep down, once", parts(`{"type":"text","text":"a","cache":{"type":"short"}},{"cache":1,"type":"text","text":"b"}`),
			parts(`{"type":"text","text":"a"},{"type":"text","text":"b"}`), "turns[].content[].cache"},
		{"ignored item", parts(`{"type":"page"},{"type":"text","text":"a"},{"type":"page","x":1}`),
			parts(`{"type":"text","text":"a"}`), "turns[].content[type=page]"},
		{"other kinds", with(`,"enclosures":[{"text":"a"},{"kind":"coin","value":1},{"kind":"photo","url":"u"},{"kind":"a,b\r\n"}]`),
			with(`,"enclosures":[{"text":"a"},{"kind":"photo","url":"u"}]`), "enclosures[kind=a%2Cb%0D%0A] enclosures[kind=coin]"},
		{"names are fit for a header", with(`,"a,b\r\nc":1`), with(``), "a%2Cb%0D%0Ac"},
		{"lone surrogate", turn(`{"role":"user","content":"a\ud800b"}`), turn(`{"role":"user","content":"a\ufffdb"}`), ""},
		{"surrogate pair", turn(`{"role":"user","content":"\ud83d\ude00"}`), turn(`{"role":"user","content":"\ud83d\ude00"}`), ""},
		{"free JSON keeps its order and spelling", with(`,"x":1,"helpers":[{"name":"f","schema":{"z": 1.50, "a": "\u0041"}}]`),
			with(`,"helpers":[{"name":"f","schema":{"z": 1.50, "a": "\u0041"}}]`), "x"},
		{"huge number in free JSON", with(`,"helpers":[{"name":"f","schema":{"z":1e999}}]`), "", ""},
		{"escaped names and values", turn(`{"r\u006fle":"us\u0065r","content":"x"}`), "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checked, v := o.Check([]byte(tt.body))
			if v != nil {
				t.Fatalf("violation %s: %v", v.Rule, v)
			}
			want := tt.want
			if want == "" {
				want = tt.body
			}
			compact := func(s string) string { return strings.ReplaceAll(s, " ", "") }
			if diff := cmp.Diff(compact(want), compact(string(checked.Body))); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			var names []string
			for _, ignored := range checked.Ignored {
				names = append(names, ignored.Name)
			}
			if got := strings.Join(names, " "); got != tt.ignored {
				t.Errorf("ignored %q, want %q", got, tt.ignored)
			}
		})
	}
}

// FuzzCheck looks for a body that crashes the checker, or whose result does not pass again.
func FuzzCheck(f *testing.F) {
	for _, body := range []string{
		with(""), with(`,"x":1,"stop":["a",null],"copies":1.0`), turn(`{"role":"writer","calls":[{"name":"f","input":{"a":[{}]}}]}`),
		parts(`{"type":"page"},{"type":"text","text":"\ud800","cache":{"type":"short"}}`), `[[[`, `{"model":"m","model":"m"}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(body))
	}
	o := operation(f, loadLetters(f), "writeLetter")
	f.Fuzz(func(t *testing.T, body []byte) {
		first, v := o.Check(body)
		if v != nil {
			if v.Reason == "" {
				t.Fatalf("%q: a violation without words", body)
			}
			return
		}
		second, v := o.Check(first.Body)
		if v != nil {
			t.Fatalf("%q becomes %q: %v", body, first.Body, v)
		}
		if len(second.Ignored) > 0 || string(second.Body) != string(first.Body) {
			t.Fatalf("%q becomes %q, and then %q with %v ignored", body, first.Body, second.Body, second.Ignored)
		}
	})
}
