package format

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// addAll gives pieces to a buffer, as a writer does.
func addAll(t *textBuffer, pieces []string) (shown, stop string) {
	for _, p := range pieces {
		show, stop := t.add([]byte(p))
		shown += show
		if stop != "" {
			return shown, stop
		}
	}
	return shown + t.rest(), ""
}

func TestStopStrings(t *testing.T) {
	tests := []struct {
		name  string
		text  string
		stops []string
		shown string
		stop  string
	}{
		{"none", "Hello", nil, "Hello", ""},
		{"in the middle", "Hello STOP there", []string{"STOP"}, "Hello ", "STOP"},
		{"a false start", "STSTOPP", []string{"STOP"}, "ST", "STOP"},
		{"overlapping itself", "ababac", []string{"abac"}, "ab", "abac"},
		{"one inside another", "xabcd", []string{"abcd", "bc"}, "xa", "bc"},
		{"the longer of two that end together", "xabc", []string{"c", "abc"}, "x", "abc"},
		{"half at the end", "Hello STO", []string{"STOP"}, "Hello STO", ""},
		{"of several bytes a character", "a€€b", []string{"€b"}, "a€", "€b"},
		{"behind a broken character", "a\xe2\x82STOP", []string{"STOP"}, "a\ufffd", "STOP"},
		{"line ends", "a\n\n\nb", []string{"\n\n"}, "a", "\n\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for i := range len(test.text) + 1 {
				for j := i; j <= len(test.text); j++ {
					pieces := []string{test.text[:i], test.text[i:j], test.text[j:]}
					for _, hold := range []bool{false, true} {
						shown, stop := addAll(&textBuffer{stops: test.stops, holdSpace: hold}, pieces)
						if shown != test.shown || stop != test.stop {
							t.Fatalf("%q: shown %q, stop %q; want %q, %q", pieces, shown, stop, test.shown, test.stop)
						}
					}
				}
			}
		})
	}
}

func TestTextIsShownEarly(t *testing.T) {
	b := &textBuffer{stops: []string{"STOP"}, holdSpace: true}
	var got []string
	for _, p := range []string{"a ", "b", " S", "o", "\xe2", "\x82\xac", "\n"} {
		show, _ := b.add([]byte(p))
		got = append(got, show)
	}
	if diff := cmp.Diff([]string{"a", " b", " ", "So", "", "€", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzTextBuffer(f *testing.F) {
	f.Add("Hello STOP", "STOP", "O", uint8(3), uint8(7))
	f.Add("a\xe2\x82\xac\xff", "€", "", uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, s, stop1, stop2 string, cut1, cut2 uint8) {
		var stops []string
		for _, stop := range []string{stop1, stop2} {
			if stop != "" && utf8.ValidString(stop) && !strings.ContainsRune(stop, utf8.RuneError) {
				stops = append(stops, stop)
			}
		}
		i := min(int(cut1), len(s))
		j := max(i, min(int(cut2), len(s)))
		whole, stopWhole := addAll(&textBuffer{stops: stops}, []string{s})
		cut, stopCut := addAll(&textBuffer{stops: stops}, []string{s[:i], s[i:j], s[j:]})
		if whole != cut || stopWhole != stopCut {
			t.Errorf("whole: %q, %q; cut at %d and %d: %q, %q", whole, stopWhole, i, j, cut, stopCut)
		}
		for _, stop := range stops {
			if strings.Contains(whole, stop) {
				t.Errorf("%q is shown in %q", stop, whole)
			}
		}
	})
}

// FuzzScanner checks for every format that no output makes the scanner fail,
// that the answer does not depend on how the output was cut, and that words
// are not lost.
func FuzzScanner(f *testing.F) {
	f.Add(uint8(0), "<think>\nHm.</think>\n<tool_call>\n{\"name\": \"now\", \"arguments\": {\"a\": 1}}\n</tool_call> So", uint8(9), uint8(30))
	f.Add(uint8(3), "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|>{}<|call|>", uint8(9), uint8(30))
	f.Add(uint8(6), `[TOOL_CALLS][{"name": "now", "arguments": {}}]`, uint8(9), uint8(30))
	f.Add(uint8(9), "<tool_call><function=now><parameter=a>\n1\n</parameter></function></tool_call>", uint8(9), uint8(30))
	f.Add(uint8(12), `<|tool_call_start|>[now(a='x\'y', b=[1, None])]<|tool_call_end|>`, uint8(9), uint8(30))
	names := Names()
	f.Fuzz(func(t *testing.T, n uint8, s string, cut1, cut2 uint8) {
		i := min(int(cut1), len(s))
		j := max(i, min(int(cut2), len(s)))
		tools := toolsOf(t, []engine.Tool{{Name: "now"}})
		for _, name := range []string{names[int(n)%len(names)], "hermes"} {
			format, _ := ByName(name)
			whole := scan(t, format, tools, "", s)
			if diff := cmp.Diff(whole, scan(t, format, tools, "", s[:i], s[i:j], s[j:])); diff != "" {
				t.Errorf("%s: %q cut at %d and %d (-whole +cut):\n%s", name, s, i, j, diff)
			}
			for _, b := range whole {
				if !utf8.ValidString(b.Text + b.Arguments) {
					t.Errorf("%s: no UTF-8 in %+v", name, b)
				}
			}
		}
	})
}
