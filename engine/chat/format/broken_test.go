package format

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"github.com/diglot/diglot/engine/chat/format/formattest"
)

// brokenText is a short text in which some characters lack bytes.
func brokenText(r *rand.Rand) string {
	var b []byte
	for range 1 + r.IntN(4) {
		c := utf8.AppendRune(nil, []rune("aé€😀")[r.IntN(4)])
		b = append(b, c[:1+r.IntN(len(c))]...)
	}
	return string(b)
}

// TestBrokenCharacters has characters cut off anywhere in an answer of any
// format, in its texts, thoughts and calls: what comes out is what a decoder
// of others makes of the bytes, in whatever pieces they come.
func TestBrokenCharacters(t *testing.T) {
	outputs := formattest.Calls()
	for _, name := range Names() {
		format, _ := ByName(name)
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			tools := toolsOf(t, formattest.Tools())
			for range 300 {
				output := "Well. " + outputs[name]
				if r.IntN(2) == 0 {
					output = format.Open + "Hm." + format.Close + outputs[name]
				}
				at := r.IntN(len(output) + 1)
				head, tail := output[:at], output[at:]
				if r.IntN(2) == 0 {
					tail = "" // the limit of tokens
				}
				broken := head + brokenText(r) + tail
				mended, err := unicode.UTF8.NewDecoder().String(broken)
				if err != nil {
					t.Fatal(err)
				}
				i := r.IntN(len(broken) + 1)
				want := scan(t, format, tools, "", mended)
				for _, pieces := range [][]string{{broken}, {broken[:i], broken[i:]}, strings.Split(broken, "")} {
					if diff := cmp.Diff(want, scan(t, format, tools, "", pieces...)); diff != "" {
						t.Fatalf("%q (-as decoded by others +got):\n%s", pieces, diff)
					}
				}
			}
		})
	}
}

// TestBrokenStream cuts every text at each of its bytes, as a limit of tokens
// does, before a stop string or without: the pieces that are shown join to
// what a decoder of others makes of the whole.
func TestBrokenStream(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := brokenText(r)
		want, err := unicode.UTF8.NewDecoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(text) + 1 {
			for _, stops := range [][]string{nil, {"STOP"}, {"€é"}} {
				pieces := []string{text[:i], text[i:]}
				got, stop := addAll(&textBuffer{stops: stops}, pieces)
				if got != want && stop == "" {
					t.Fatalf("%q, stops %q: %q, want %q", pieces, stops, got, want)
				}
				if slices.Contains(stops, "STOP") {
					if got, _ := addAll(&textBuffer{stops: stops}, append(pieces, "ST", "OP")); got != want {
						t.Fatalf("%q before a stop string: %q, want %q", pieces, got, want)
					}
				}
			}
		}
	}
}
