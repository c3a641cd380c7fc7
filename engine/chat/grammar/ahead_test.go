package grammar

import (
	"strings"
	"testing"
)

// oneSpace is compact JSON with a space behind colons and commas.
func oneSpace(text []byte, _ byte) string {
	if n := len(text); n > 0 && (text[n-1] == ':' || text[n-1] == ',') {
		return " "
	}
	return ""
}

func TestAhead(t *testing.T) {
	person, _, err := Schema(t.Context(), []byte(`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"kind":{"const":"a b"},"wild":{"type":"boolean"}},"required":["name","age","kind"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		node      Node
		text      string
		want      string
		most      int
		withSpace string
	}{
		{"from the start", person, ``, `{"name": "`, 100, ""},
		{"nothing in a string", person, `{"name": "A`, ``, 100, ""},
		{"the next member", person, `{"name": "A"`, `, "age":`, 100, ""},
		{"the next member after the comma", person, `{"name": "A",`, ` "age":`, 100, ""},
		{"not the digits", person, `{"name": "A", "age": 4`, ``, 100, ""},
		{"a constant with a space", person, `{"name": "A", "age": 4,`, ` "kind": "a b"`, 100, ""},
		{"what is optional", person, `{"name": "A", "age": 4, "kind": "a b",`, ` "wild":`, 100, ""},
		{"a word of two", person, `{"name": "A", "age": 4, "kind": "a b", "wild": t`, `rue}`, 100, ""},
		{"nothing after the end", person, `{"name": "A", "age": 4, "kind": "a b"}`, ``, 100, ""},
		{"no more than asked for", person, `{"name": "A",`, ` "ag`, 4, ""},
		{"white space that is not allowed", Seq(Literal("a"), Literal("b")), `a`, `b`, 100, "\n\n\n\n"},
		{"white space that is allowed once", Seq(Literal("a"), optional(Literal(" ")), Literal("b")), `a`, ` b`, 100, " "},
		{"guessed white space that is not allowed", Seq(Literal("a"), optional(Literal(" ")), Literal("b")), `a`, `b`, 100, "  "},
		{"several bytes of one character", Choice(Literal("é"), Literal("è")), ``, "\xc3", 100, ""},
	} {
		g, err := Compile(t.Context(), tt.node)
		if err != nil {
			t.Fatal(err)
		}
		m := g.Matcher()
		if !m.Accept([]byte(tt.text)) {
			t.Fatalf("%s: %q is not allowed", tt.name, tt.text)
		}
		blank := oneSpace
		if tt.withSpace != "" {
			blank = func([]byte, byte) string { return tt.withSpace }
		}
		fuel := m.fuel
		got := m.Ahead([]byte(tt.text), tt.most, blank)
		if rest := strings.TrimPrefix(string(got), tt.text); rest != tt.want {
			t.Errorf("%s: after %q comes %q, want %q", tt.name, tt.text, rest, tt.want)
		}
		if m.fuel != fuel {
			t.Errorf("%s: the matcher lost %d of its work", tt.name, fuel-m.fuel)
		}
		if !m.Accept([]byte(tt.want)) {
			t.Errorf("%s: %q is not allowed after %q", tt.name, tt.want, tt.text)
		}
	}
}

// TestAheadOfAmbiguousText: looking ahead ends early, and the matcher can go on.
func TestAheadOfAmbiguousText(t *testing.T) {
	a := Literal("a")
	g, err := Compile(t.Context(), Seq(Repeat(Repeat(a, 1, 999), 1, 999), Literal("b")))
	if err != nil {
		t.Fatal(err)
	}
	m := g.Matcher()
	for i := range 20 {
		m.Ahead(nil, 1000, oneSpace)
		if m.Err() != nil || !m.Accept([]byte("a")) {
			t.Fatalf("after %d letters: %v", i, m.Err())
		}
	}
	if !m.Allows([]byte("b")) {
		t.Error("the end is not allowed")
	}
}

// TestWalk: a walk ahead tells what the matcher would, and changes nothing.
func TestWalk(t *testing.T) {
	n, _, err := Schema(t.Context(), []byte(`{"type":"object","properties":{"name":{"type":"string","maxLength":5},"kind":{"enum":["a","abc"]}},"required":["name","kind"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	g, err := Compile(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	const text = `{"name": "Ada", "kind": "abc"}`
	for at := range len(text) + 1 {
		m, truth := g.Matcher(), g.Matcher()
		m.Accept([]byte(text[:at/2]))
		truth.Accept([]byte(text[:at]))
		fuel := m.fuel
		w := m.Walk()
		if !w.Follow([]byte(text[at/2 : at])) {
			t.Fatalf("%q may not follow %q", text[at/2:at], text[:at/2])
		}
		for _, next := range []string{"", " ", `"`, "a", "c", "abc", `", "k`, "abcdefgh", "}", "\xff"} {
			if got, want := w.Allows([]byte(next)), truth.Allows([]byte(next)); got != want {
				t.Errorf("%q after %q: %v, want %v", next, text[:at], got, want)
			}
		}
		if w.Complete() != truth.Complete() || w.Spent() || w.Follow([]byte("\x00")) {
			t.Errorf("after %q: complete: %v, spent: %v", text[:at], w.Complete(), w.Spent())
		}
		if m.fuel != fuel || !m.Accept([]byte(text[at/2:])) {
			t.Errorf("after a walk from %q to %q the matcher has %d of %d to spend, or is elsewhere", text[:at/2], text[:at], m.fuel, fuel)
		}
	}
}

// TestWalkOfAmbiguousText: a walk ends early, and the matcher can go on.
func TestWalkOfAmbiguousText(t *testing.T) {
	a := Literal("a")
	g, err := Compile(t.Context(), Seq(Repeat(Repeat(a, 1, 999), 1, 999), Literal("b")))
	if err != nil {
		t.Fatal(err)
	}
	m := g.Matcher()
	w := m.Walk()
	if long := []byte(strings.Repeat("a", 900)); w.Allows(long) || !w.Spent() || w.Allows([]byte("a")) {
		t.Error("the walk goes on")
	}
	if !m.Accept([]byte("ab")) || m.Err() != nil {
		t.Errorf("the matcher does not go on: %v", m.Err())
	}
}
