package inspection

import "testing"

func TestExpressions(t *testing.T) {
	s := &scope{
		numbers: map[string]int64{"a": 6, "b": 4, "big": 1 << 40, "none": 0},
		has:     func(name string) bool { return name == "there" },
		lets:    map[string]*expression{},
	}
	double, err := parseExpression("a*2")
	if err != nil {
		t.Fatal(err)
	}
	s.lets["double"] = double
	for text, want := range map[string]int64{
		"1": 1, "a": 6, "unknown": 0, "a+b*2": 14, "(a+b)*2": 20, "a-b-1": 1, "a/b": 1, "a%b": 2, "a==6": 1, "a!=6": 0, "a<b": 0, "a<=6": 1, "a>=7": 0,
		"a>b&b>3": 1, "a<b|b>3": 1, "min(a,b)": 4, "max(a,b+9)": 13, "or(none,b)": 4, "or(a,b)": 6, "has(there)": 1, "has(gone)==0": 1, "double+1": 13,
		"a/none": nothing, "a%none==0": 0, "big*big": enough, "2-has(there)": 1,
	} {
		e, err := parseExpression(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := e.in(s); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"", "a+", "(a", "a)", "min(a)", "min(a,b", "+", "a b"} {
		if _, err := parseExpression(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestBrokenTables(t *testing.T) {
	for _, text := range []string{
		"\tkeys x\n", "@a\n\twhat x\n", "@a\n@a\n", "@a\n\ttop x\n", "@a\n\ttop x:(\n", "@a\n\ttop $x\n", "$x y\n", "@a\n\tblk [x y:1\n", "@a\n\tmust +\n",
	} {
		if _, err := parseTable(text); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

// TestNames holds that the table names no numbers that there are not.
func TestNames(t *testing.T) {
	table, err := parseTable(architecturesText)
	if err != nil {
		t.Fatal(err)
	}
	numbers := variables()
	for name, a := range table {
		check := func(e *expression) {
			if e == nil {
				return
			}
			for _, n := range e.names(a.lets) {
				if _, ok := numbers[n]; !ok {
					t.Errorf("%s: there is no number %s", name, n)
				}
			}
		}
		for _, m := range append(a.musts, a.somes...) {
			check(m.expr)
		}
		for _, g := range append(a.top, a.block...) {
			check(g.when)
			for _, w := range g.tensors {
				for _, d := range w.dims {
					check(d)
				}
			}
		}
	}
}

func TestKeyMistakes(t *testing.T) {
	for _, line := range []string{"name: no type", "name uint32", "name number: no such type", "name uint32 1..x: no number", "name uint32 mus: no such word"} {
		if k, err := parseKey(line); err == nil {
			t.Errorf("%q is read as %+v", line, k)
		}
	}
}
