package template

import (
	"encoding/json"
	"regexp"
	"strings"
)

// cutLast cuts s around the last sep. Without one, all of it is before.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// maxMarker is the longest marker; longer ones are sentences.
const maxMarker = 120

// marker is <…> or [NAME].
var marker = regexp.MustCompile(`<[^<>\s][^<>]*>|\[/?[A-Z_]{3,}[A-Z_ ]*\]`)

// lastMarker is the marker that s ends with, and the space behind it.
func lastMarker(s string) string {
	all := marker.FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	if strings.TrimSpace(s[last[1]:]) != "" {
		return ""
	}
	return s[last[0]:]
}

// firstMarker is the marker that s begins with, and the space before it.
func firstMarker(s string) string {
	first := marker.FindStringIndex(s)
	if first == nil || strings.TrimSpace(s[:first[0]]) != "" {
		return ""
	}
	return s[:first[1]]
}

// openMarker is the length of the incomplete marker at the end of s.
func openMarker(s string) int {
	if i := strings.LastIndexByte(s, '<'); i >= 0 && !strings.Contains(s[i:], ">") {
		return len(s) - i
	}
	i := strings.LastIndexByte(s, '[')
	if i < 0 || i+1 >= len(s) || s[i+1] < 'A' || s[i+1] > 'Z' || strings.Contains(s[i:], "]") {
		return 0
	}
	return len(s) - i
}

// wholeMarkers shortens the prefix of n bytes so that it splits no marker.
func wholeMarkers(s string, n int) int {
	if n == len(s) {
		return n
	}
	return n - openMarker(s[:n])
}

// wholeSuffix shortens the suffix of n bytes so that it splits no marker.
func wholeSuffix(s string, n int) int {
	at := len(s) - n
	if openMarker(s[:at]) == 0 {
		return n
	}
	if i := strings.IndexAny(s[at:], ">]"); i >= 0 {
		return n - i - 1
	}
	return n
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

func wordsInOrder(s string, words ...string) bool {
	for _, w := range words {
		_, rest, ok := strings.Cut(s, w)
		if !ok {
			return false
		}
		s = rest
	}
	return true
}

// jsonStart is the offset of the first brace, or bracket that does not begin a
// marker like [TOOL_CALLS], or -1.
func jsonStart(s string) int {
	for i := range len(s) {
		if s[i] == '{' || s[i] == '[' && (i+1 == len(s) || s[i+1] < 'A' || s[i+1] > 'Z') {
			return i
		}
	}
	return -1
}

// decodePrefix decodes the JSON value at the start of s and returns the rest.
func decodePrefix(s string) (value any, rest string, ok bool) {
	d := json.NewDecoder(strings.NewReader(s))
	if err := d.Decode(&value); err != nil {
		return nil, "", false
	}
	return value, s[d.InputOffset():], true
}
