package draft

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// tokensOf makes a token of each letter.
func tokensOf(text string) []int32 {
	var tokens []int32
	for _, r := range text {
		tokens = append(tokens, int32(r))
	}
	return tokens
}

func textOf(tokens []int32) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteRune(rune(token))
	}
	return b.String()
}

func TestGuess(t *testing.T) {
	for _, tt := range []struct {
		name, text, guess string
		most              int
		want              string // guess included
		matched           int
	}{
		{"nothing occurred before", "abcdefgh", "", 5, "", 0},
		{"an empty text", "", "", 5, "", 0},
		{"a short text", "a", "", 5, "", 0},
		{"two tokens", "xab-def.ab", "", 3, "-de", 2},
		{"one token is too little", "xab-def.b", "", 3, "", 0},
		{"the last occurrence", "abc1 abc2 abc", "", 2, "2 ", 4},
		{"the longer match, not the last one", "abcdX cdY abcd", "", 1, "X", 4},
		{"long matches", "the quick brown fox; the quick brown", "", 4, " fox", 15},
		{"as many as asked for", "abcdefgh abcd", "", 0, "", 4},
		{"over its own end", "-abcabcabc", "", 7, "abcabca", 6},
		{"a run of one token", "aaaaaa", "", 4, "aaaa", 5},
		{"behind a guess", "name: x, name", ": ", 2, ": x,", 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var x Index
			text := tokensOf(tt.text)
			for i := range text { // one at a time, as they are generated
				x.Add(text[:i+1])
			}
			got, matched := x.Guess(text, tokensOf(tt.guess), tt.most)
			if textOf(got) != tt.want || matched != tt.matched {
				t.Errorf("after %q and %q: %q by %d, want %q by %d", tt.text, tt.guess, textOf(got), matched, tt.want, tt.matched)
			}
			var whole Index
			whole.Add(text)
			if again, _ := whole.Guess(text, tokensOf(tt.guess), tt.most); !slices.Equal(again, got) {
				t.Errorf("added at once: %q", textOf(again))
			}
		})
	}
}

// TestGuessOfImages: what is no token is never guessed.
func TestGuessOfImages(t *testing.T) {
	var x Index
	text := []int32{1, 2, 3, 4, 5, -7, 8, 1, 2, 3}
	x.Add(text)
	if got, _ := x.Guess(text, nil, 10); !slices.Equal(got, []int32{4, 5}) {
		t.Errorf("guesses %v", got)
	}
}

// TestLongText: an index has a limit, and still finds what is near.
func TestLongText(t *testing.T) {
	var x Index
	text := make([]int32, 300_000)
	for i := range text {
		text[i] = int32(i * 7919 % 100_003)
	}
	text = append(text, text[250_000:250_010]...)
	x.Add(text)
	if n := len(x.long.behind) + len(x.short.behind); n > 2*mostEntries {
		t.Errorf("%d entries", n)
	}
	if got, _ := x.Guess(text, nil, 5); !slices.Equal(got, text[250_010:250_015]) {
		t.Errorf("guesses %v, want %v", got, text[250_010:250_015])
	}
}

func TestPlan(t *testing.T) {
	guess := func(k Kind, n int) Guess {
		g := Guess{Tokens: make([]int32, n)}
		for range n {
			g.Kinds = append(g.Kinds, k)
		}
		return g
	}
	sure, doubtful := NewRecord(), NewRecord()
	sure.Add(Long, memory, memory)
	doubtful.Add(Brief, 0, memory)
	many := make([]Guess, 40)
	for i := range many {
		many[i] = guess(Long, 10)
	}
	for _, tt := range []struct {
		name    string
		guesses []Guess
		record  Record
		share   float64
		room    int
		want    int // rows
	}{
		{"no guess", []Guess{{}}, sure, 0.1, 100, 0},
		{"sure and cheap", []Guess{guess(Long, 10)}, sure, 0.1, 100, 10},
		{"doubtful", []Guess{guess(Brief, 10)}, doubtful, 0.1, 100, 0},
		{"rows cost as much as steps", []Guess{guess(Long, 10)}, NewRecord(), 1, 100, 0},
		{"no room", []Guess{guess(Long, 10)}, sure, 0.1, 3, 3},
		{"more than one sequence may have", []Guess{guess(Long, 100)}, sure, 0.01, 1000, MaxRows},
		{"others fill the batch", many, NewRecord(), 0.3, 1000, 0},
		{"no more than all may have", many, sure, 0.01, 1000, MaxRows},
	} {
		records := make([]*Record, len(tt.guesses))
		for i := range records {
			records[i] = &tt.record
		}
		pace := Pace{share: tt.share}
		Plan(tt.guesses, records, &pace, tt.room)
		rows := 0
		for _, g := range tt.guesses {
			rows += g.Rows
		}
		if rows != tt.want {
			t.Errorf("%s: %d rows, want %d", tt.name, rows, tt.want)
		}
	}
}

// TestPlanPrefers: rows go to the guesses that are most likely right.
func TestPlanPrefers(t *testing.T) {
	guesses := []Guess{
		{Tokens: make([]int32, 3), Kinds: []Kind{Brief, Brief, Brief}},
		{Tokens: make([]int32, 3), Kinds: []Kind{Long, Long, Long}},
	}
	record := NewRecord()
	Plan(guesses, []*Record{&record, &record}, &Pace{share: 0.01}, 3)
	if guesses[0].Rows != 0 || guesses[1].Rows != 3 {
		t.Errorf("%d and %d rows", guesses[0].Rows, guesses[1].Rows)
	}
}

// TestLearn: guesses are turned off where they fail and on where they hold, whether
// they are checked or not.
func TestLearn(t *testing.T) {
	record := NewRecord()
	pace := Pace{share: 0.3}
	right, wrong := []int32{1, 2, 3}, []int32{9}
	rows := func() int {
		g := []Guess{{Tokens: right, Kinds: []Kind{Medium, Medium, Medium}}}
		Plan(g, []*Record{&record}, &pace, 100)
		return g[0].Rows
	}
	learn := func(sampled []int32) {
		g := Guess{Tokens: right, Kinds: []Kind{Medium, Medium, Medium}}
		g.Learn(sampled, &record)
	}
	if rows() == 0 {
		t.Error("no guess is tried")
	}
	for range 60 {
		learn(wrong)
	}
	if n := rows(); n != 0 {
		t.Errorf("%d rows, though no guess holds", n)
	}
	for range 60 {
		learn(right[:1])
	}
	if n := rows(); n != 3 {
		t.Errorf("%d rows, though all guesses hold", n)
	}
	if b := record.Begin(); b.Chance(Medium) != record.Chance(Medium) {
		t.Errorf("a new text begins with %.2f, not with %.2f", b.Chance(Medium), record.Chance(Medium))
	}
}

func TestPace(t *testing.T) {
	for _, tt := range []struct {
		name      string
		one, each time.Duration
		want      float64
	}{
		{"memory is the limit", 20 * time.Millisecond, time.Millisecond, 0.05},
		{"arithmetic is the limit", 10 * time.Millisecond, 6 * time.Millisecond, 0.6},
	} {
		p := NewPace()
		for i := range 2000 {
			rows := 1 + i*7%9
			taken := tt.one + time.Duration(rows-1)*tt.each
			if i%5 < 2 {
				taken *= time.Duration(2 + i%8) // something else ran
			}
			p.Add(rows, taken)
		}
		if got := p.Share(); got < tt.want*0.8 || got > tt.want*1.2 {
			t.Errorf("%s: a row costs %.3f of a step, want %.3f", tt.name, got, tt.want)
		}
	}
	p := NewPace()
	p.Add(5, 0) // a clock that stands still
	if p.Share() != firstShare {
		t.Errorf("a share of %.3f from a step that took no time", p.Share())
	}
}

// TestPaceChanges: what a row costs is measured again after it has become cheap, though
// guesses that would be too expensive get no rows. Where it stays expensive, that takes
// little time.
func TestPaceChanges(t *testing.T) {
	for _, tt := range []struct {
		name      string
		sequences int
		share     float64 // at last; 1 before
		rows      int     // at least that guesses get at last, in 100 steps
	}{
		{"cheap, one text", 1, 0.05, 300},
		{"cheap, four texts", 4, 0.05, 700},
		{"expensive, one text", 1, 1, 0},
		{"expensive, four texts", 4, 1, 0},
		{"half, eight texts", 8, 0.5, 0},
	} {
		p, record := NewPace(), NewRecord()
		guess := func() (guesses []Guess, records []*Record) {
			for range tt.sequences {
				guesses = append(guesses, Guess{Tokens: make([]int32, 4), Kinds: []Kind{Medium, Medium, Medium, Medium}})
				records = append(records, &record)
			}
			return guesses, records
		}
		for i := range 400 {
			p.Add(1+i%9, time.Duration(1+i%9)*time.Millisecond)
		}
		guessed, took, plain := 0, 0.0, 0.0 // plain: in which as many tokens come without guesses
		one := func(rows int) float64 { return 1 + tt.share*float64(rows-1) }
		for i := range 4000 {
			guesses, records := guess()
			tokens, rows := Plan(guesses, records, &p, 100)
			p.Add(rows, time.Duration(one(rows)*1e6))
			if i >= 3900 {
				guessed += rows - tt.sequences
			}
			took += one(rows)
			plain += one(tt.sequences) * tokens / float64(tt.sequences)
		}
		t.Logf("%s: %d rows, a share of %.3f, %.3f of the time without guesses", tt.name, guessed, p.Share(), took/plain)
		if guessed < tt.rows || took > 1.03*plain {
			t.Errorf("%s: %d rows for guesses, want %d, and %.3f of the time without guesses", tt.name, guessed, tt.rows, took/plain)
		}
	}
}

func TestSpacing(t *testing.T) {
	for _, tt := range []struct {
		name, read, text string
		next             byte
		want             string
	}{
		{"a colon at first", ``, `{"a":`, '"', " "},
		{"a colon, with its space written", ``, `{"a": `, '"', ""},
		{"none after a brace", ``, `{`, '"', ""},
		{"dense", `{"a":1,"b":2,"c"`, `:`, '1', ""},
		{"lines", "{\n  \"a\": 1,\n  \"b\": 2,", "", '"', "\n  "},
		{"lines, half written", "{\n  \"a\": 1,\n  \"b\": 2,", "\n", '"', "  "},
		{"lines, after the first member", "{\n  \"a\": \"x\"", `,`, '"', "\n  "},
		{"lines, at the end", "{\n  \"a\": \"x\",\n  \"b\": 1", ``, '}', "\n"},
		{"lines, deeper", "{\n  \"a\": \"x\",\n  \"b\":", ` {`, '"', "\n    "},
		{"lines, deeper, the next member", "{\n  \"a\": \"x\",\n  \"b\":", " {\n    \"c\": 1,", '"', "\n    "},
		{"lines, deeper, the end", "{\n  \"a\": \"x\",\n  \"b\":", " {\n    \"c\": 1", '}', "\n  "},
		{"one line, after the first member", `{"a": 1`, `,`, '"', " "},
		{"lines, from before", "{\n  \"a\": \"x\",\n  \"b\"", `: "y",`, '"', "\n  "},
		{"other white space is written", "{\n  \"a\": 1,\n  \"b\": 2,", "\t", '"', ""},
		{"very long", "{" + strings.Repeat(" ", 5000) + "\"a\": 1}", `{`, '"', ""},
		{"not ASCII", ``, `{"é":`, '"', " "},
	} {
		s := NewSpacing().Begin()
		for i := range tt.read {
			s.Read([]byte(tt.read[i : i+1]))
		}
		if got := s.Guess([]byte(tt.text), tt.next); got != tt.want {
			t.Errorf("%s: after %q and %q: %q, want %q", tt.name, tt.read, tt.text, got, tt.want)
		}
		if again := s.Begin(); len(tt.text) > 0 && !strings.Contains(tt.read, "\n") && again.Guess([]byte(tt.text), tt.next) != tt.want {
			t.Errorf("%s: the next text does not begin with this style", tt.name)
		}
	}
}
