package terminal

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// screen is a terminal that does what is written to it, as far as an Editor
// goes; anything else is a failure. It has its own idea of how wide a
// character is.
type screen struct {
	t             *testing.T
	columns, rows int
	cells         [][]string // "" is the second half of a wide character
	x, y          int
	full          bool // the last column was written: the next character begins a row
	scrolled      int  // rows that left at the top
}

func newScreen(t *testing.T, columns, rows int) *screen {
	s := &screen{t: t, columns: columns, rows: rows}
	for range rows {
		s.cells = append(s.cells, s.empty())
	}
	return s
}

func (s *screen) empty() []string { return strings.Split(strings.Repeat(" ", s.columns), "") }

// String is what a person sees, with a | where the cursor is.
func (s *screen) String() string {
	var lines []string
	for y, row := range s.cells {
		line := ""
		for x, cell := range row {
			if y == s.y && x == s.x {
				line += "|"
			}
			line += cell
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func (s *screen) Write(p []byte) (int, error) {
	for rest := string(p); rest != ""; {
		var n int
		if rest[0] == escape {
			n = s.obey(rest)
		} else {
			r, size := utf8.DecodeRuneInString(rest)
			n = size
			s.put(r)
		}
		rest = rest[n:]
	}
	return len(p), nil
}

func (s *screen) obey(text string) int {
	if strings.HasPrefix(text, pasteOn) || strings.HasPrefix(text, pasteOff) {
		return len(pasteOn)
	}
	var n int
	var letter byte
	if _, err := fmt.Sscanf(text, "\x1b[%d%c", &n, &letter); err != nil {
		n, letter = 1, text[2]
	}
	switch letter {
	case 'A':
		s.y = max(s.y-n, 0)
	case 'C':
		s.x = min(s.x+n, s.columns-1)
	case 'H':
		s.x, s.y = 0, 0
	case 'K':
		s.blank(s.y, s.x)
	case 'J':
		if text[2] == '2' {
			for y := range s.cells {
				s.blank(y, 0)
			}
			break
		}
		s.blank(s.y, s.x)
		for y := s.y + 1; y < s.rows; y++ {
			s.blank(y, 0)
		}
	case 'm':
	default:
		s.t.Fatalf("an Editor wrote %q", text)
	}
	if letter != 'm' {
		s.full = false
	}
	return strings.IndexByte(text, letter) + 1
}

func (s *screen) blank(y, from int) { copy(s.cells[y][from:], s.empty()) }

func (s *screen) down() {
	s.full = false
	if s.y++; s.y < s.rows {
		return
	}
	s.y--
	s.scrolled++
	s.cells = append(s.cells[1:], s.empty())
}

func (s *screen) put(r rune) {
	switch {
	case r == '\r':
		s.x, s.full = 0, false
	case r == '\n':
		s.down()
	case unicode.IsControl(r):
		s.t.Fatalf("an Editor wrote %q", r)
	case s.joins(r):
		*s.last() += string(r)
	default:
		width := 1
		if r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 {
			width = 2
		}
		if s.full || s.x+width > s.columns {
			s.x = 0
			s.down()
		}
		s.cells[s.y][s.x] = string(r)
		if width == 2 {
			s.cells[s.y][s.x+1] = ""
		}
		s.x += width
		if s.x >= s.columns {
			s.x, s.full = s.columns-1, true
		}
	}
}

// joins reports whether a character is shown as part of the last one.
func (s *screen) joins(r rune) bool {
	if s.x == 0 {
		return false
	}
	before, _ := utf8.DecodeRuneInString(*s.last())
	return unicode.In(r, unicode.Mn, unicode.Me) || r == 0x200d ||
		before >= 0x1f300 && (r >= 0x1f3fb && r <= 0x1f3ff || r >= 0x1f300 && strings.HasSuffix(*s.last(), "\u200d"))
}

// last is the character before the cursor.
func (s *screen) last() *string {
	x := s.x
	if !s.full {
		x--
	}
	for x > 0 && s.cells[s.y][x] == "" {
		x--
	}
	return &s.cells[s.y][x]
}

// typist types into an Editor with a screen of its own.
type typist struct {
	*screen
	edit *Editor
}

func newTypist(t *testing.T, columns, rows int, history ...string) *typist {
	t.Helper()
	past := &History{}
	for _, entry := range history {
		past.Add(entry)
	}
	p := &typist{screen: newScreen(t, columns, rows)}
	e, err := OpenEditor(strings.NewReader(""), p, past)
	if err != nil {
		t.Fatal(err)
	}
	e.screen.size = func() (int, int) { return p.columns, p.rows }
	p.edit = e
	e.begin(">>> ")
	return p
}

// press types keys one by one.
func (p *typist) press(keys string) {
	for raw := []byte(keys); len(raw) > 0; {
		_, n := nextKey(raw)
		p.edit.press(string(raw[:n]), false)
		raw = raw[n:]
	}
}

const (
	keyLeft, keyRight, keyUp, keyDown = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"

	family = "👨\u200d👩\u200d👧"
	accent = "e\u0301"
	flag   = "🇫🇷"
)

func TestScreen(t *testing.T) {
	for _, tt := range []struct {
		name, keys, want string
	}{
		{"nothing", "", ">>> |"},
		{"letters", "abc", ">>> abc|"},
		{"a letter put in", "ac" + keyLeft + "b", ">>> ab|c"},
		{"Chinese", "你好吗", ">>> 你好吗|"},
		{"left of Chinese", "你好吗" + keyLeft + keyLeft, ">>> 你|好吗"},
		{"put into Chinese", "你吗" + keyLeft + "好", ">>> 你好|吗"},
		{"Chinese deleted", "你好吗" + keyLeft + "\x7f", ">>> 你|吗"},
		{"letters put into Japanese", "日語" + keyLeft + "ab", ">>> 日ab|語"},
		{"an emoji", "a👍b" + keyLeft + keyLeft, ">>> a|👍b"},
		{"an emoji of parts", "a" + family + "b" + keyLeft + keyLeft, ">>> a|" + family + "b"},
		{"an emoji of parts deleted", "a" + family + "b" + keyLeft + "\x7f", ">>> a|b"},
		{"a skin", "👍🏽x" + keyLeft + keyLeft, ">>> |👍🏽x"},
		{"a flag", "a" + flag + flag + keyLeft, ">>> a" + flag + "|" + flag},
		{"an accent", "caf" + accent + "s" + keyLeft + "\x7f", ">>> caf|s"},
		{"an accent that comes late", "cafes" + keyLeft + "\u0301", ">>> cafe\u0301|s"},
		{"a full row", "abcdefgh", ">>> abcdefgh\n|"},
		{"more than a row", "abcdefghij", ">>> abcdefgh\nij|"},
		{"back over the end of a row", "abcdefghij" + keyLeft + keyLeft + keyLeft, ">>> abcdefg|h\nij"},
		{"a row that becomes short", "abcdefghi\x7f\x7f", ">>> abcdefg|"},
		{"a wide character that does not fit", "abcdefg你", ">>> abcdefg\n你|"},
		{"a wide one moved to the next row", "abcdef你" + strings.Repeat(keyLeft, 3) + "x", ">>> abcdx|ef\n你"},
		{"Chinese rows", "一二三四五六", ">>> 一二三四\n五六|"},
		{"put in before Chinese rows", "一二三四五六\x01a", ">>> a|一二三\n四五六"},
		{"words", "你好 世界 ab\x17\x17x", ">>> 你好 x|"},
		{"word by word", "你好 世界\x1b[1;5D\x1b[1;3Da\x1b[1;5Cb", ">>> a你好 b\n|世界"},
		{"to the end and to the begin", "你好ab\x1b[D\x1b[D\x15", ">>> |ab"},
		{"cut at the cursor", "你好ab\x1b[D\x1b[D\x0b", ">>> 你好|"},
		{"swapped", "你好\x14", ">>> 好你|"},
		{"deleted forward", "你好\x01\x04", ">>> |好"},
		{"the last message", keyUp, ">>> 早上好,\na long⏎one|"},
		{"and back", "ab" + keyUp + keyUp + keyDown + keyDown, ">>> ab|"},
		{"an older one is shorter", keyUp + keyUp, ">>> one|"},
		{"the screen cleared", "你好" + keyLeft + "\x0c", ">>> 你|好"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newTypist(t, 12, 6, "one", "早上好, a long⏎one")
			p.press(tt.keys)
			if diff := cmp.Diff(tt.want, p.String()); diff != "" {
				t.Errorf("screen (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScreenAfterALine has the next prompt follow each line without a gap.
func TestScreenAfterALine(t *testing.T) {
	for _, tt := range []struct{ keys, mark, want string }{
		{"ab", "", ">>> ab\n>>> |"},
		{"abcdefgh", "", ">>> abcdefgh\n>>> |"},
		{"一二三四五" + keyLeft + keyLeft, "", ">>> 一二三四\n五\n>>> |"},
		{"ab" + keyLeft, "^C", ">>> ab^C\n>>> |"},
		{"", "", ">>>\n>>> |"},
	} {
		p := newTypist(t, 12, 6)
		p.press(tt.keys)
		_ = p.edit.end(tt.mark, nil)
		p.edit.begin(">>> ")
		if diff := cmp.Diff(tt.want, p.String()); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", tt.keys, diff)
		}
	}
}

// TestScreenWritten has something to say while a person types.
func TestScreenWritten(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"news\n", "news\n>>> 一二三四\n五|六"},
		{"no end", "no end\n>>> 一二三四\n五|六"},
	} {
		p := newTypist(t, 12, 6)
		p.press("一二三四五六" + keyLeft)
		_, _ = io.WriteString(p.edit, tt.text)
		if diff := cmp.Diff(tt.want, p.String()); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// TestScreenTooSmall has a line of more rows than the screen: what is around
// the cursor is seen, and nothing leaves at the top that is painted again.
func TestScreenTooSmall(t *testing.T) {
	p := newTypist(t, 6, 3)
	p.press("a一二三四五六七八九")
	if got, want := p.String(), "四五六\n七八九\n|"; got != want {
		t.Errorf("at the end:\n%s\nwant\n%s", got, want)
	}
	scrolled := p.scrolled
	p.press(strings.Repeat(keyLeft, 6) + "x")
	if got, want := p.String(), "一二三\nx|四五\n六七八"; got != want {
		t.Errorf("in the middle:\n%s\nwant\n%s", got, want)
	}
	p.press("\x01")
	if got, want := p.String(), ">>> |a\n一二三\nx四五"; got != want {
		t.Errorf("at the begin:\n%s\nwant\n%s", got, want)
	}
	if p.scrolled != scrolled {
		t.Errorf("%d rows left at the top while the cursor moved", p.scrolled-scrolled)
	}
}

// TestScreenNarrower has the terminal break the rows once more.
func TestScreenNarrower(t *testing.T) {
	p := newTypist(t, 12, 6)
	p.press("abcdefghij")
	narrow := newScreen(t, 8, 6)
	_, _ = io.WriteString(narrow, ">>> abcdefgh\r\nij")
	p.screen = narrow
	p.press("k" + keyLeft)
	if got, want := p.String(), ">>> abcd\nefghij|k"; got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
}

// TestScreenIsAsPaintedOnce types at random: the screen must be what it would
// be had the text been there from the first.
func TestScreenIsAsPaintedOnce(t *testing.T) {
	keys := []string{"a", "b", " ", "你", "好", "é", "\u0301", "👍", "👍🏽", "🇫", "🇷", family, "\u200d", keyLeft, keyLeft, keyRight, keyUp, keyDown,
		"\x7f", "\x7f", "\x1b[3~", "\x01", "\x05", "\x0b", "\x17", "\x14", "\x1b[1;5D", "\x1b[1;5C"}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 100 {
		p := newTypist(t, 5+random.IntN(12), 3+random.IntN(4), "one", "你好, "+family)
		var typed []string
		for range 40 {
			key := keys[random.IntN(len(keys))]
			typed = append(typed, key)
			p.press(key)
			l := &p.edit.line
			if diff := cmp.Diff(split(l.String()), l.clusters, cmp.AllowUnexported(cluster{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("round %d, after %q (-from text +edited):\n%s", round, typed, diff)
			}
			once := newScreen(t, p.columns, p.rows)
			(&painter{out: once, size: p.edit.screen.size}).paint(">>> ", l)
			if diff := cmp.Diff(once.String(), p.String()); diff != "" {
				t.Fatalf("round %d, %dx%d after %q (-once +edited):\n%s", round, p.columns, p.rows, typed, diff)
			}
		}
	}
}
