package grammar

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func compile(t *testing.T, n Node) *Grammar {
	t.Helper()
	g, err := Compile(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// matches reports whether text is complete in g, read as one piece.
func matches(g *Grammar, text string) bool {
	m := g.Matcher()
	return m.Accept([]byte(text)) && m.Complete()
}

func TestNodes(t *testing.T) {
	a, b := Literal("a"), Literal("b")
	ab := Choice(a, b)
	for name, row := range map[string]struct {
		node     Node
		yes, not []string
	}{
		"literal":          {Literal("é€😀"), []string{"é€😀"}, []string{"", "é", "é€", "é€😀x"}},
		"empty literal":    {Literal(""), []string{""}, []string{"a"}},
		"sequence":         {Seq(a, ab, Literal("")), []string{"aa", "ab"}, []string{"a", "b", "aba"}},
		"empty sequence":   {Seq(), []string{""}, []string{"a"}},
		"choice":           {Choice(a, Literal("bc"), Literal("bd")), []string{"a", "bc", "bd"}, []string{"", "b", "ac"}},
		"choice of starts": {Choice(a, Literal("ab"), Literal("abc"), Literal("")), []string{"", "a", "ab", "abc"}, []string{"b", "abcd"}},
		"repeat":           {Repeat(ab, 2, 3), []string{"ab", "bab"}, []string{"", "a", "abab"}},
		"repeat from 0":    {Repeat(ab, 0, 2), []string{"", "a", "ba"}, []string{"aaa"}},
		"repeat once":      {Repeat(ab, 1, 1), []string{"a"}, []string{"", "aa"}},
		"repeat never":     {Seq(a, Repeat(ab, 0, 0)), []string{"a"}, []string{"", "aa"}},
		"star":             {Repeat(ab, 0, -1), []string{"", "abba"}, []string{"c"}},
		"plus":             {Repeat(ab, 1, -1), []string{"a", "abba"}, []string{"", "c"}},
		"at least":         {Seq(Repeat(a, 3, -1), b), []string{"aaab", "aaaaaab"}, []string{"aab", "b"}},
		"large bounds":     {Repeat(a, 99_999, 100_000), []string{strings.Repeat("a", 99_999), strings.Repeat("a", 100_000)}, []string{strings.Repeat("a", 99_998), strings.Repeat("a", 100_001)}},
		"turns that may be empty": {
			Seq(Repeat(Seq(optional(a), optional(b)), 2, 3), Literal("c")),
			[]string{"c", "abc", "abababc", "bac", "aaac", "babac"}, []string{"aaaac", "bbabac"}},
		"turns that may be empty, without end": {Repeat(Repeat(a, 0, 5), 7, -1), []string{"", strings.Repeat("a", 50)}, []string{"b"}},
		"not empty, twice":                     {Repeat(Seq(Repeat(Repeat(a, 0, 2), 0, 2), optional(b)), 1, 2), []string{"", "aaaa", "aaaab", "aaaabaaaab", "aaaaaaaa"}, []string{"aaaaaaaaa", "bbb"}},
		"loop in a loop":                       {Repeat(Seq(a, Repeat(b, 1, 2)), 2, 2), []string{"abab", "abbab", "abbabb"}, []string{"ab", "abbbab", "ababab"}},
		"free":                                 {free, []string{"", "any é text\x00"}, []string{"\xff", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"}},
		"until":                                {Until("<a>", "<<b"), []string{"", "x", "<", "<a", "<<a", "é<<"}, []string{"<a>", "x<a>y", "<<a>", "<<b", "<<<b"}},
		"until and its marker":                 {Seq(Until("<tool>"), Literal("<tool>"), a), []string{"<tool>a", "<<tool>a", "say <tool <tool>a"}, []string{"<tool>", "<tool>b", "<tool><tool>a"}},
		"until beyond ASCII":                   {Until("é€", "è"), []string{"é", "éé", "ê", "€"}, []string{"é€", "éé€", "è"}},
		"until of nothing":                     {Until(""), []string{"", "text"}, nil},
		"not empty until":                      {Repeat(Until("x"), 1, 2), []string{"", "abc"}, []string{"x", "abx"}},
		"dead alternative":                     {Choice(Seq(a, Choice()), b, Repeat(a, 2, 1)), []string{"b"}, []string{"a", "", "aa"}},
		"repeat of nothing":                    {Seq(Repeat(Choice(), 0, 5), Repeat(Choice(), 0, -1), a), []string{"a"}, nil},
	} {
		g := compile(t, row.node)
		for _, text := range row.yes {
			if !matches(g, text) {
				t.Errorf("%s: %.40q is not accepted", name, text)
			}
		}
		for _, text := range row.not {
			if matches(g, text) {
				t.Errorf("%s: %.40q is accepted", name, text)
			}
		}
	}
}

func TestImpossible(t *testing.T) {
	for name, n := range map[string]Node{
		"choice of nothing": Choice(),
		"bounds":            Repeat(Literal("a"), 2, 1),
		"sequence":          Seq(Literal("a"), Choice()),
		"plus":              Repeat(Choice(), 1, -1),
		"counted":           Repeat(Choice(), 2, 5),
	} {
		if _, err := Compile(context.Background(), n); err != ErrImpossible {
			t.Errorf("%s: got %v, want ErrImpossible", name, err)
		}
	}
}

func TestMatcher(t *testing.T) {
	m := compile(t, Seq(Literal("é"), optional(Literal("b")))).Matcher()
	if m.Complete() || m.Finished() || !m.Allows(nil) {
		t.Error("at the start: want neither complete nor finished")
	}
	if m.Accept([]byte("x")) || m.Accept([]byte("éc")) {
		t.Error("what is not allowed is accepted")
	}
	if !m.Allows([]byte("éb")) || !m.Accept([]byte("\xc3")) || m.Complete() {
		t.Error("half a character: want accepted and not complete")
	}
	half := m.Clone()
	if !m.Accept([]byte("\xa9")) || !m.Complete() || m.Finished() {
		t.Error("the whole character: want complete and not finished")
	}
	if !m.Accept([]byte("b")) || !m.Finished() || m.Allows([]byte("b")) || !m.Allows(nil) {
		t.Error("the end: want finished")
	}
	if half.Complete() || !half.Accept([]byte("\xa9b")) || !half.Finished() {
		t.Error("the clone moved with its origin")
	}
}

func TestDeepJSON(t *testing.T) {
	const depth = 512
	g := compile(t, JSONValue())
	text := strings.Repeat("[ ", depth) + "1" + strings.Repeat("\n]", depth)
	if !matches(g, text) {
		t.Error("512 arrays are not accepted")
	}
	if matches(g, text[1:]) || matches(g, text[:len(text)-1]) {
		t.Error("unbalanced arrays are accepted")
	}
}

// A matcher that forgets stays where it is.
func TestForgetting(t *testing.T) {
	g := compile(t, Seq(Repeat(Seq(Literal("("), Repeat(charRange('a', 'z'), 1, 200_000), Literal(")")), 1, 3), Literal(".")))
	m := g.Matcher()
	word := []byte(strings.Repeat("abcdefghij", 10))
	for range 3 {
		if !m.Accept([]byte("(")) {
			t.Fatal("( is not accepted")
		}
		for range 2_000 {
			if !m.Accept(word) {
				t.Fatal("a letter is not accepted")
			}
		}
		if m.Accept([]byte("a")) {
			t.Fatal("one letter too many is accepted")
		}
		if !m.Accept([]byte(")")) {
			t.Fatal(") is not accepted")
		}
	}
	if m.Accept([]byte("(")) || !m.Accept([]byte(".")) || !m.Finished() {
		t.Error("the count of the outer loop is lost")
	}
}

// ambiguous has more ways to read a text than anybody can follow.
func ambiguous() Node {
	return Seq(Repeat(Repeat(Choice(Literal("a"), Literal("aa")), 0, 999), 0, 999), Literal("."))
}

// Ways to read a text are given up when there are too many, and what is left
// goes on and ends.
func TestAmbiguity(t *testing.T) {
	m := compile(t, ambiguous()).Matcher()
	for range 100 {
		if !m.Accept([]byte("aaa")) {
			t.Fatalf("an ambiguous text is not accepted: %v", m.Err())
		}
	}
	if !m.Accept([]byte(".")) || !m.Finished() {
		t.Error("an ambiguous text does not end")
	}
}

// A matcher that has too much to do says so, and does no more.
func TestTooMuchWork(t *testing.T) {
	m := compile(t, ambiguous()).Matcher()
	if m.Accept([]byte(strings.Repeat("a", 100_000))) || !errors.Is(m.Err(), ErrTooMuchWork) {
		t.Fatalf("got error %v, want ErrTooMuchWork", m.Err())
	}
	if over := -m.fuel; over > 2*maxThreads {
		t.Errorf("it goes on for %d after its limit", over)
	}
	if m.Accept([]byte("a")) || m.Allows([]byte(".")) || m.Clone().Allows([]byte("a")) {
		t.Error("it goes on all the same")
	}
}
