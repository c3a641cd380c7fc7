package tokenizer_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine/chat/tokenizer"
	"github.com/diglot/diglot/engine/chat/tokenizer/tokenizertest"
)

func newTokenizer(t *testing.T, v *tokenizer.Vocabulary) *tokenizer.Tokenizer {
	t.Helper()
	tokens, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// TestFind: the longest one anywhere first, and of equal ones the first.
func TestFind(t *testing.T) {
	spellings := tokenizer.NewSpellings([]string{"ab", "bcd", "<a>", "<a><b>", "aa", "«x»", "  ", "    ", ""})
	for text, want := range map[string][]string{
		"":            nil,
		"xyz":         nil,
		"ab":          {"ab"},
		"abcd":        {"bcd"},
		"abab":        {"ab", "ab"},
		"aaa":         {"aa"},
		"<a><b>":      {"<a><b>"},
		"<a><a><b>":   {"<a>", "<a><b>"},
		"«x»«x":       {"«x»"},
		"       ":     {"    ", "  "},
		"aaabcd":      {"aa", "bcd"},
		"<a <a>  <b>": {"<a>", "  "},
	} {
		var got []string
		for from, to := range spellings.Find(text) {
			got = append(got, text[from:to])
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// TestLongTexts: no text is too long, whatever it is made of. One that has
// more tokens than wanted ends soon.
func TestLongTexts(t *testing.T) {
	subjects := map[string]*tokenizer.Vocabulary{"spm": tokenizertest.SPM(true), "wordpiece": tokenizertest.WordPiece()}
	for _, pre := range []string{"qwen2", "gpt-4o", "deepseek-llm", "superbpe"} {
		subjects[pre] = tokenizertest.BPE(pre)
	}
	for name, v := range subjects {
		tokens, spell := newTokenizer(t, v), tokenizertest.Speller(v)
		for _, scrap := range []string{"a", " ", "\n", "=", "!", "1", "é", "aB"} {
			text := strings.Repeat(scrap, 26_400)
			got, err := tokens.Encode(t.Context(), nil, []tokenizer.Part{{Text: text}}, math.MaxInt)
			var spelled strings.Builder
			for _, token := range got {
				spelled.WriteString(spell(token))
			}
			if same := strings.TrimPrefix(spelled.String(), " ") == text || spelled.String() == text; err != nil || !same && name != "wordpiece" {
				t.Errorf("%s, %q: %d tokens, %v", name, scrap, len(got), err)
			}
			long := []tokenizer.Part{{Text: strings.Repeat(scrap, 1<<18)}}
			if _, err := tokens.Encode(t.Context(), nil, long, 1000); !errors.Is(err, tokenizer.ErrMany) && name != "wordpiece" {
				t.Errorf("%s, %q: the error of a long text is %v", name, scrap, err)
			}
		}
	}
}

// TestLongTextsTakeLittle: what is made for a text of one piece is bounded by the
// tokens that are wanted, not by the text.
func TestLongTextsTakeLittle(t *testing.T) {
	for name, v := range map[string]*tokenizer.Vocabulary{
		"bpe": tokenizertest.BPE("qwen2"), "gpt-4o": tokenizertest.BPE("gpt-4o"), "spm": tokenizertest.SPM(true), "wordpiece": tokenizertest.WordPiece(),
	} {
		tokens := newTokenizer(t, v)
		for _, scrap := range []string{"a", " ", "\n", "=", "é"} {
			text := []tokenizer.Part{{Text: strings.Repeat(scrap, 16<<20)}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := tokens.Encode(t.Context(), nil, text, 1000)
			runtime.ReadMemStats(&after)
			if name != "wordpiece" && !errors.Is(err, tokenizer.ErrMany) {
				t.Errorf("%s, %q: error %v", name, scrap, err)
			}
			if made := after.TotalAlloc - before.TotalAlloc; made > 32<<20 && name != "wordpiece" {
				t.Errorf("%s, %q: %d MB were made", name, scrap, made>>20)
			}
		}
	}
}

func TestEncodeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newTokenizer(t, tokenizertest.BPE("qwen2")).Encode(ctx, nil, []tokenizer.Part{{Text: strings.Repeat("a b ", 1<<18)}}, math.MaxInt)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestForeign: a tokenizer of another kind is not shown what it would make a
// special token of, and what it makes all the same is cut.
func TestForeign(t *testing.T) {
	v := &tokenizer.Vocabulary{
		Texts: []string{"<a>", "«", "x", "other"},
		Kinds: []tokenizer.Kind{tokenizer.Control, tokenizer.UserDefined, tokenizer.Normal, tokenizer.Normal},
	}
	tokens, err := tokenizer.NewForeign(v, func(text string) ([]int32, error) {
		switch {
		case strings.Contains(text, "<a>"):
			t.Errorf("it was shown %q", text)
		case strings.Contains(text, "zz"): // what it reads as something special
			return []int32{0}, nil
		case text == "«":
			return []int32{1}, nil
		}
		return slices.Repeat([]int32{2}, len(text)), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"<a>": 3, "x<a>x": 5, "zz": 2, "a«b": 4, "": 0} {
		got, err := tokens.Encode(t.Context(), nil, []tokenizer.Part{{Text: text}}, math.MaxInt)
		if err != nil || len(got) != want || slices.Contains(got, 0) || slices.Contains(got, 1) {
			t.Errorf("%q: %d, %v; want %d tokens of text", text, got, err, want)
		}
	}
}
