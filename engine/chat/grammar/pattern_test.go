package grammar

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for re, row := range map[string]struct{ yes, not []string }{
		``:                      {[]string{"", "x"}, nil},
		`b`:                     {[]string{"b", "abc"}, []string{"", "ac"}},
		`^b`:                    {[]string{"b", "bc"}, []string{"ab"}},
		`b$`:                    {[]string{"b", "ab"}, []string{"bc"}},
		`^(?:a|b)c?$`:           {[]string{"a", "bc"}, []string{"c", "abc"}},
		`(^a|b)(c|d$)`:          {[]string{"acx", "xbcx", "ad", "xbd"}, []string{"xac", "adx"}},
		`^(a$|b)`:               {[]string{"a", "bx"}, []string{"ax"}},
		`^a$|^ab$`:              {[]string{"a", "ab"}, []string{"abc"}},
		`(^x)?y`:                {[]string{"xy", "y", "ay"}, []string{"x"}},
		`^[^"\\]+$`:             {[]string{"é'"}, []string{`a"`, `\`, ""}},
		`^\d{2,}\w\s$`:          {[]string{"12a ", "123_\t"}, []string{"1a ", "12a\u00a0", "١٢a "}},
		`^\D\W\S$`:              {[]string{"a-x"}, []string{"1-x", "aax", "a-\u00a0", "a- "}},
		`^[^\s]$`:               {[]string{"x"}, []string{" ", "\u00a0", "\v"}},
		`^[\s\S]$`:              {[]string{"x", " ", "\n"}, []string{""}},
		`^.$`:                   {[]string{"x", "😀"}, []string{"\n", "\r", "\u2028", ""}},
		`^\u00e9\x41\u{1F600}$`: {[]string{"éA😀"}, []string{"éA"}},
		`^\ud83d\ude00$`:        {[]string{"😀"}, nil},
		`^(\ud83d\u0041|x)$`:    {[]string{"x"}, []string{"\U00011841", "😀", "A"}},
		`^(\ud83d\ud83d|x)$`:    {[]string{"x"}, []string{"\U0001f03d", "\U0001f43d"}},
		`^(\ude00\ud83d|x)$`:    {[]string{"x"}, []string{"😀"}},
		`^\cJ\0[\b]\/\-$`:       {[]string{"\n\x00\b/-"}, nil},
		`^[^]$`:                 {[]string{"x", "\n"}, []string{"", "xy"}},
		`^([]|a)$`:              {[]string{"a"}, []string{""}},
		`^[a[b]$`:               {[]string{"a", "[", "b"}, []string{"]"}},
		`^(?i)é[a-c]$`:          {[]string{"éa", "ÉB"}, []string{"ed"}},
		`^\p{Lu}\P{L}$`:         {[]string{"É1"}, []string{"é1", "Éa"}},
		`^(?<year>\d{4})$`:      {[]string{"2024"}, []string{"24"}},
		`^(a{0,2}){2,3}$`:       {[]string{"", "aaaaaa"}, []string{"aaaaaaa"}},
	} {
		n, err := Pattern(context.Background(), re)
		if err != nil {
			t.Errorf("%s: %v", re, err)
			continue
		}
		g := compile(t, n)
		for _, text := range row.yes {
			if !matches(g, text) {
				t.Errorf("%s: %q is not accepted", re, text)
			}
		}
		for _, text := range row.not {
			if matches(g, text) {
				t.Errorf("%s: %q is accepted", re, text)
			}
		}
	}
}

func TestPatternErrors(t *testing.T) {
	for re, beyond := range map[string]bool{
		`(?=a)b`: true, `(?<!a)b`: true, `(a)\1`: true, `(?<n>a)\k<n>`: true, `\bword`: true, `a^b`: true, `(^a)*`: true,
		`a{2000}`: true, `(?m)^a`: true, strings.Repeat(`(^|a)`, 12): true,
		`(a`: false, `a{3,1}`: false, `[z-a]`: false, `*`: false, `\`: false, "\xff": false,
	} {
		_, err := Pattern(context.Background(), re)
		if err == nil || errors.Is(err, ErrPattern) != beyond {
			t.Errorf("%s: got %v, want ErrPattern: %t", re, err, beyond)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, re := range []string{`^(a|b$)*c{2,5}$`, `[^\s\S]\u00e9\ud83d\ude00`, `((a?){9}b|^$){0,9}`, `\cA[\b]\0[]`} {
		f.Add(re, "aab")
	}
	f.Fuzz(func(t *testing.T, re, text string) {
		n, err := Pattern(context.Background(), re)
		if err != nil {
			return
		}
		if g, err := Compile(context.Background(), n); err == nil {
			g.Matcher().Accept([]byte(text))
		}
	})
}

func FuzzSchema(f *testing.F) {
	for _, row := range schemaRows {
		f.Add([]byte(row.schema), []byte(slices.Concat(row.yes, row.not)[0]))
	}
	f.Fuzz(func(t *testing.T, schema, text []byte) {
		n, _, err := Schema(context.Background(), json.RawMessage(schema))
		var wrong *SchemaError
		switch {
		case err != nil && !errors.As(err, &wrong):
			t.Fatalf("got %v, want a *SchemaError", err)
		case err != nil:
			return
		}
		g, err := Compile(context.Background(), n)
		if errors.Is(err, ErrTooLarge) {
			return
		}
		if err != nil {
			t.Fatalf("does not compile: %v", err)
		}
		if m := g.Matcher(); m.Accept(text) && m.Complete() && !json.Valid(text) {
			t.Errorf("accepts %q, which is not JSON", text)
		}
	})
}

// Any schema at all costs what its budget has and no more, and what it is
// said to cost is at least what it allocates.
func FuzzSchemaCompile(f *testing.F) {
	for _, schema := range hostileSchemas {
		if len(schema) < 3000 { // of the others the fuzzer learns nothing new
			f.Add([]byte(schema))
		}
	}
	for _, row := range schemaRows {
		f.Add([]byte(row.schema))
	}
	limits := Limits{Steps: 200_000, Bytes: 8 << 20}
	f.Fuzz(func(t *testing.T, schema []byte) {
		ctx := newBudgeted(limits)
		before := allocated()
		g, err := compileSchema(ctx, string(schema))
		real, used := allocated()-before, ctx.budget.Used()
		if real > min(used.Bytes, limits.Bytes)+4*slack { // others allocate too
			t.Errorf("%d bytes are allocated and %d counted", real, used.Bytes)
		}
		if err != nil {
			return
		}
		if used.Steps > limits.Steps+checkSteps || used.Bytes > limits.Bytes+checkBytes {
			t.Errorf("it is done with %v", used)
		}
		m := g.Matcher()
		for range 200 { // every place that is reached can be left, or is the end
			if m.Finished() || m.Err() != nil {
				return
			}
			if !m.Accept(anyByte(m)) && m.Err() == nil {
				t.Fatal("a place that no text gets out of")
			}
		}
	})
}

// anyByte is a byte that m allows, if there is one.
func anyByte(m *Matcher) []byte {
	for b := range 256 {
		if m.Allows([]byte{byte(b)}) {
			return []byte{byte(b)}
		}
	}
	return []byte{0}
}

func TestKeywords(t *testing.T) {
	list := keywords
	for i, k := range list {
		if i > 0 && list[i-1].Name >= k.Name {
			t.Errorf("%s is not in order", k.Name)
		}
		if k.Support == NotEnforceable && k.Note == "" {
			t.Errorf("%s: no reason", k.Name)
		}
		// A keyword that is not enforceable is reported wherever it stands.
		value := `{"a":{},"b":[1]}`
		if k.Name == "uniqueItems" {
			value = `true`
		}
		schema := `{"type":"string","` + k.Name + `":` + value + `}`
		if _, issues, err := Schema(context.Background(), json.RawMessage(schema)); k.Support == NotEnforceable && (err != nil || len(issues) != 1 || issues[0].Keyword != k.Name) {
			t.Errorf("%s: got issues %v, error %v", k.Name, issues, err)
		} else if k.Support == Annotation && (err != nil || issues != nil) {
			t.Errorf("%s: got issues %v, error %v", k.Name, issues, err)
		}
	}
}
