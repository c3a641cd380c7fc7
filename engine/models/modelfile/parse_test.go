package modelfile

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// file makes a File of triples: name, key, value.
func file(fields ...string) *File {
	f := &File{}
	for i := 0; i < len(fields); i += 3 {
		f.Instructions = append(f.Instructions, Instruction{Name: fields[i], Key: fields[i+1], Value: fields[i+2]})
	}
	return f
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       *File
	}{
		{"one line", "FROM llama3", file("FROM", "", "llama3")},
		{"any case, tabs and blank lines", "\n\n  from\tllama3  \n\nParameter  num_ctx\t 4096\t\n", file("FROM", "", "llama3", "PARAMETER", "num_ctx", "4096")},
		{"a name in capitals", "FROM a\nPARAMETER Num_CTX 1\nMESSAGE User hi", file("FROM", "", "a", "PARAMETER", "num_ctx", "1", "MESSAGE", "user", "hi")},
		{"comments", "# one\n#\n  #two  \nFROM a\n## three", file("#", "", "one", "#", "", "", "#", "", "two", "FROM", "", "a", "#", "", "# three")},
		{"no comment inside a line", "FROM a # b", file("FROM", "", "a # b")},
		{"quotes", `FROM "./my model.gguf"` + "\n" + `SYSTEM " x "`, file("FROM", "", "./my model.gguf", "SYSTEM", "", " x ")},
		{"quotes inside", `FROM a` + "\n" + `SYSTEM say "x" and "y"`, file("FROM", "", "a", "SYSTEM", "", `say "x" and "y"`)},
		{"quotes that hold quotes", "FROM a\n" + `SYSTEM "say "x""`, file("FROM", "", "a", "SYSTEM", "", `say "x"`)},
		{"an empty value", "FROM a\nSYSTEM \"\"\nTEMPLATE \"\"\"\"\"\"", file("FROM", "", "a", "SYSTEM", "", "", "TEMPLATE", "", "")},
		{"three quotes over lines", "FROM a\nTEMPLATE \"\"\"{{ .System }}\n  \n# no comment\nFROM b \n\"\"\"  \nSYSTEM s",
			file("FROM", "", "a", "TEMPLATE", "", "{{ .System }}\n  \n# no comment\nFROM b \n", "SYSTEM", "", "s")},
		{"one quote over lines", "FROM a\nSYSTEM \"x  \ny\"\n", file("FROM", "", "a", "SYSTEM", "", "x  \ny")},
		{"three quotes in the middle of a line", "FROM a\nSYSTEM \"\"\"x \"\"\" y\n\"\"\"", file("FROM", "", "a", "SYSTEM", "", "x \"\"\" y\n")},
		{"up to a word", "FROM a\nSYSTEM <<END\ndef f():\n  \"\"\"x\"\"\"\n\nEND\nLICENSE l", file("FROM", "", "a", "SYSTEM", "", "def f():\n  \"\"\"x\"\"\"\n", "LICENSE", "", "l")},
		{"nothing up to a word", "FROM a\nSYSTEM <<END\nEND", file("FROM", "", "a", "SYSTEM", "", "")},
		{"an old mark of Llama 2", "FROM a\nTEMPLATE <<SYS>>{{ .System }}<</SYS>>", file("FROM", "", "a", "TEMPLATE", "", "<<SYS>>{{ .System }}<</SYS>>")},
		{"ends of lines of Windows", "FROM a\r\nSYSTEM \"\"\"x\r\ny\"\"\"\r\nMESSAGE user hi\r\n", file("FROM", "", "a", "SYSTEM", "", "x\ny", "MESSAGE", "user", "hi")},
		{"mixed ends of lines", "FROM a\r\nSYSTEM \"\"\"x\r\ny\"\"\"\n", file("FROM", "", "a", "SYSTEM", "", "x\r\ny")},
		{"characters that join others", "FROM a\nSYSTEM 👩‍👩‍👧 مرحبا", file("FROM", "", "a", "SYSTEM", "", "👩‍👩‍👧 مرحبا")},
		{"mark of UTF-8", "\xef\xbb\xbfFROM ä", file("FROM", "", "ä")},
		{"little UTF-16", "\xff\xfe" + utf16Text("FROM ä\nSYSTEM 👍", false), file("FROM", "", "ä", "SYSTEM", "", "👍")},
		{"big UTF-16", "\xfe\xff" + utf16Text("FROM ä\nSYSTEM 👍", true), file("FROM", "", "ä", "SYSTEM", "", "👍")},
		{"all instructions", "FROM a\nFROM b\nADAPTER c\nLICENSE d\nREQUIRES 0.14.0\nRENDERER e\nPARSER f\nMESSAGE assistant g: h",
			file("FROM", "", "a", "FROM", "", "b", "ADAPTER", "", "c", "LICENSE", "", "d", "REQUIRES", "", "0.14.0", "RENDERER", "", "e", "PARSER", "", "f", "MESSAGE", "assistant", "g: h")},
	} {
		got, err := Parse(strings.NewReader(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want.Instructions, got.Instructions, cmp.FilterPath(isLine, cmp.Ignore())); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
		again, err := Parse(strings.NewReader(got.String()))
		if err != nil || !equal(again, got) {
			t.Errorf("%s: written as %q, and read as %+v (%v)", tt.name, got.String(), again, err)
		}
	}
}

// equal reports whether two files have the same instructions and comments, on
// whatever lines.
func equal(a, b *File) bool { return cmp.Equal(a, b, cmp.FilterPath(isLine, cmp.Ignore())) }

func isLine(p cmp.Path) bool { return p.Last().String() == ".Line" }

func utf16Text(s string, big bool) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(s)) {
		bytes := [2]byte{byte(u), byte(u >> 8)}
		if big {
			bytes[0], bytes[1] = bytes[1], bytes[0]
		}
		b.Write(bytes[:])
	}
	return b.String()
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"nothing", "", 0, "missing FROM line"},
		{"comments alone", "# FROM a", 0, "missing FROM line"},
		{"unknown instruction", "FROM a\n\nSYSTEN x", 3, `unknown instruction "SYSTEN"; a line begins with FROM, PARAMETER`},
		{"text of a value that has no quotes", "FROM a\nSYSTEM x\ny", 3, `unknown instruction "y"`},
		{"escapes for a terminal", "\x1b[31m", 1, `unknown instruction "\x1b[31m"`},
		{"no value", "FROM a\nSYSTEM\n", 2, "SYSTEM has no value; it must begin on the same line"},
		{"spaces for a value", "FROM  \t\n", 1, "FROM has no value"},
		{"no value and a Windows end", "FROM a\nSYSTEM\r\n", 2, "SYSTEM has no value"},
		{"empty FROM", `FROM ""`, 1, "FROM has an empty value"},
		{"no name of a parameter", "FROM a\nPARAMETER", 2, "PARAMETER needs a name and a value"},
		{"no name but a value", "FROM a\nPARAMETER 4096", 2, `"4096" is not a name`},
		{"a name of a parameter that is a book", "FROM a\nPARAMETER " + strings.Repeat("x", 1<<20) + " 1", 2, `xxx…" is not a name`},
		{"no value of a parameter", "FROM a\nPARAMETER num_ctx", 2, "PARAMETER num_ctx has no value"},
		{"another role", "FROM a\nMESSAGE tool x", 2, `the role is system, user, assistant, not "tool"`},
		{"no text of a message", "FROM a\nMESSAGE user", 2, "MESSAGE user has no value"},
		{"three quotes that stay open", "FROM a\nSYSTEM \"\"\"x\ny\n", 2, `the value of SYSTEM has no end: it begins with """, and no line ends with that`},
		{"one quote that stays open", "FROM a\nPARAMETER stop \"x\n", 2, `the value of PARAMETER stop has no end: it begins with ", and`},
		{"a single quote", "FROM a\nSYSTEM \"", 2, `the value of SYSTEM has no end: it begins with ", and`},
		{"a word that does not come", "FROM a\nSYSTEM <<END\nEND2", 2, "the value of SYSTEM has no end: it begins with <<END, and no line is END"},
		{"not UTF-8", "FROM a\nSYSTEM \xe4\n", 2, "not UTF-8"},
		{"UTF-16 without a mark", utf16Text("FROM a", false), 1, "UTF-16 without a byte order mark"},
		{"too long", "FROM a\nSYSTEM " + strings.Repeat("x", maxFile), 0, "larger than 16 MiB"},
	} {
		_, err := Parse(strings.NewReader(tt.text))
		var mistake *Error
		if !errors.As(err, &mistake) || mistake.Line != tt.line || !strings.Contains(mistake.Message, tt.want) {
			t.Errorf("%s: %v, want %q in line %d", tt.name, err, tt.want, tt.line)
		}
	}
}

// TestLines holds that mistakes found later point at the right line.
func TestLines(t *testing.T) {
	f, err := Parse(strings.NewReader("# c\n\nFROM a\nSYSTEM \"\"\"\n\n\"\"\"\nLICENSE <<END\n\nEND\nPARAMETER x y"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, i := range f.Instructions {
		lines = append(lines, i.Line)
	}
	if diff := cmp.Diff([]int{1, 3, 4, 7, 10}, lines); diff != "" {
		t.Error(diff)
	}
}

// TestString writes values that are hard to write.
func TestString(t *testing.T) {
	for _, value := range []string{
		"", " ", "\n", "a", " a", "a ", "a\n", "\na", `"`, `""`, `"""`, `""""`, `a"`, `"a`, `"a"`, `"""a"""`, `a"""`, "a\"\nb", "a\"\"\"\nb", "a\"\"\" \nb",
		"\"\"\"\n\"\"\"", "\"\n", "a\r\nb", "a\r", "\r", "a\r\nb\"\"\"\r\nEND\r\nEND2\n", "<<END", "<<END\nEND", "END\n\"\"\"\n", "a\"\"\"\nEND", "#", "# a", "\u00a0x", "x\u2028",
		"\x00", "\ufeff", "FROM b", "a\"\"\"\n\"",
	} {
		f := file("FROM", "", "a", "SYSTEM", "", value, "MESSAGE", "user", value, "LICENSE", "", "l")
		got, err := Parse(strings.NewReader(f.String()))
		if err != nil {
			t.Errorf("%q: written as %q: %v", value, f.String(), err)
			continue
		}
		if !equal(got, f) {
			t.Errorf("%q: written as %q, and read as %q", value, f.String(), got.Instructions[1].Value)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"FROM a\nPARAMETER stop \"x\"\nSYSTEM \"\"\"a\n\"\"\"\nMESSAGE user hi\n# c", "FROM a\r\nSYSTEM <<END\r\n\"\"\"\r\nEND\r\n", "\xff\xfeF\x00R\x00O\x00M\x00 \x00a\x00",
		"FROM \"a\nb\"\nLICENSE \"\"\"\"x\"\n\"\"\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		first, err := Parse(strings.NewReader(string(raw)))
		if err != nil {
			return
		}
		second, err := Parse(strings.NewReader(first.String()))
		if err != nil {
			t.Fatalf("%q is written as %q: %v", raw, first.String(), err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("%q is written as %q: %s", raw, first.String(), diff)
		}
	})
}
