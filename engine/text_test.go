package engine_test

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"

	"github.com/diglot/diglot/engine"
)

func TestDecodeText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"text", "a€😀", "a€😀"},
		{"the table of the Unicode standard", "a\xf1\x80\x80\xe1\x80\xc2b\x80c\x80\xbfd", "a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd"},
		{"an emoji without its end", "\xf0\x9f\x98", "\ufffd"},
		{"two of them", "\xf0\x9f\x98\xf0\x9f", "\ufffd\ufffd"},
		{"half a surrogate pair", "\xed\xa0\xbd", "\ufffd\ufffd\ufffd"},
		{"beyond Unicode", "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
		{"longer than it need be", "\xc0\xaf\xe0\x80\xaf", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"a mark that was sent", "\ufffd", "\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := engine.DecodeText([]byte(tt.in)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			checkDecoding(t, []byte(tt.in))
		})
	}
}

// brokenText is random text, cut, repeated and changed so that much of it is
// none.
func brokenText(r *rand.Rand) []byte {
	var b []byte
	for range 1 + r.IntN(6) {
		c := utf8.AppendRune(nil, []rune{'a', ' ', 'é', '€', '\ufffd', '😀', '\U0010ffff', '\u0800', '\ud7ff'}[r.IntN(9)])
		switch r.IntN(4) {
		case 0:
			c = c[:1+r.IntN(len(c))]
		case 1:
			c[r.IntN(len(c))] = byte(r.IntN(256))
		}
		b = append(b, c...)
	}
	return b
}

func TestDecodeRandomText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		checkDecoding(t, brokenText(r))
	}
}

// checkDecoding compares with a decoder of others, whole and cut anywhere.
func checkDecoding(t *testing.T, b []byte) {
	t.Helper()
	want, err := unicode.UTF8.NewDecoder().String(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if got := engine.DecodeText(b); got != want {
		t.Fatalf("%q is decoded to %q, by others to %q", b, got, want)
	}
	for i := range b {
		n := engine.WholeChars(b[:i])
		if got := engine.DecodeText(b[:n]) + engine.DecodeText(b[n:]); got != want {
			t.Fatalf("%q cut at %d, held from %d: %q, want %q", b, i, n, got, want)
		}
	}
}

func FuzzDecodeText(f *testing.F) {
	f.Add([]byte("a\xe2\x82\xac\xff\xf0\x9f"))
	f.Fuzz(func(t *testing.T, b []byte) { checkDecoding(t, b) })
}
