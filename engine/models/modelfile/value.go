package modelfile

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A value stands on the line of its instruction, or between quotes: " or """.
// Such a value goes over lines, up to the first that ends with the same quotes;
// nothing is escaped. A value that holds such a line itself cannot be written
// with quotes. For it there is a third form, which Ollama does not have: <<WORD
// begins a value that goes up to the line WORD.

const (
	single = `"`
	triple = `"""`
)

var hereWord = regexp.MustCompile(`^<<([A-Z][A-Z0-9]*)$`)

// readValue takes a value that begins on the first of the lines, of which rest
// is what follows the instruction. It returns how many lines it takes; 0: it has
// no end.
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

// opening is the quotes that a text begins with.
func opening(text string) string {
	switch {
	case strings.HasPrefix(text, triple):
		return triple
	case strings.HasPrefix(text, single):
		return single
	}
	return ""
}

// bare is a line without what else belongs to its end.
func bare(line string) string { return strings.TrimSuffix(line, "\r") }

// quote writes a value so that readValue reads it: plainly where that works.
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
