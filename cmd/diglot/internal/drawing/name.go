package drawing

import (
	"regexp"
	"strings"
	"unicode"
)

// maxName bounds a name, in characters.
const maxName = 60

// fileName makes a name of the words of a prompt, and the seed.
func fileName(prompt, seed string) string {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	name := []rune(strings.Join(words, "-"))
	name = name[:min(len(name), maxName)]
	if len(name) == 0 {
		name = []rune("image")
	}
	if seed == "" {
		return string(name)
	}
	return string(name) + "-" + seed
}

// seedText matches the parameters in a PNG file, which package imagegen writes.
var seedText = regexp.MustCompile(`\bSeed: (\d+), Size: `)

// seedOf is the seed of the image in a PNG file; empty: unknown. The text that may
// quote the prompt comes before it, so the last match counts.
func seedOf(file []byte) string {
	const head = 1 << 16
	all := seedText.FindAllSubmatch(file[:min(len(file), head)], -1)
	if len(all) == 0 {
		return ""
	}
	return string(all[len(all)-1][1])
}
