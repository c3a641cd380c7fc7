package modelfile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A value is the rest of a line, or is quoted with " or """. A quoted value
// extends to the first line that ends with the same quotes, without escapes. For
// a value that contains such a line there is a here document, which Ollama does
// not have: <<WORD starts a value that ends before the line WORD.

const (
	single = `"`
	triple = `"""`
)

var hereWord = regexp.MustCompile(`^<<([A-Z][A-Z0-9]*)$`)

// readValue parses a value that starts with rest, the end of the first line. taken
// is the number of its lines; 0: it is unterminated.
func readValue(rest string, lines []string) (value string, taken int) {
	text := strings.TrimSpace(rest)
	if m := hereWord.FindStringSubmatch(text); m != nil {
		end := slices.IndexFunc(lines[1:], func(line string) bool { return bare(line) == m[1] })
		if end < 0 {
			return "", 0
		}
		return strings.Join(lines[1:end+1], "\n"), end + 2
	}
	marks := opening(text)
	if marks == "" {
		return text, 1
	}
	if len(text) >= 2*len(marks) && strings.HasSuffix(text, marks) {
		return text[len(marks) : len(text)-len(marks)], 1
	}
	for i, line := range lines[1:] {
		last := strings.TrimSpace(line)
		if !strings.HasSuffix(last, marks) {
			continue
		}
		all := strings.Join(slices.Concat([]string{rest}, lines[1:i+2]), "\n")
		all = strings.TrimSpace(all)
		return all[len(marks) : len(all)-len(marks)], i + 2
	}
	return "", 0
}

// opening returns the quotes at the start of a text.
func opening(text string) string {
	switch {
	case strings.HasPrefix(text, triple):
		return triple
	case strings.HasPrefix(text, single):
		return single
	}
	return ""
}

// bare is a line without a carriage return.
func bare(line string) string { return strings.TrimSuffix(line, "\r") }

// quote formats a value for readValue, without quotes if possible.
func quote(value string) string {
	forms := []string{value, single + value + single, triple + value + triple}
	if strings.Contains(value, "\n") {
		forms = []string{forms[2], forms[1]}
	}
	for _, form := range forms {
		lines := strings.Split(form, "\n")
		if value == "" && form == "" || hereWord.MatchString(form) {
			continue
		}
		if got, taken := readValue(lines[0], lines); taken == len(lines) && got == value {
			return form
		}
	}
	taken := map[string]bool{}
	for line := range strings.SplitSeq(value, "\n") {
		taken[bare(line)] = true
	}
	word := "END"
	for n := 2; taken[word]; n++ {
		word = "END" + strconv.Itoa(n)
	}
	return "<<" + word + "\n" + value + "\n" + word
}
