package terminal

import (
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"
)

// cluster is a grapheme cluster: a letter with its accents, or an emoji of several
// code points. The cursor does not stop inside.
type cluster struct {
	text    string
	columns int // of the terminal: 2 for Chinese and most emoji
}

// widths treats ambiguous characters as narrow, as terminals do by default.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

func split(text string) []cluster {
	var all []cluster
	for each := graphemes.FromString(text); each.Next(); {
		all = append(all, cluster{each.Value(), columns(each.Value())})
	}
	return all
}

// asEmoji is the variation selector for the colored form of the character before
// it, which makes it as wide as an emoji.
const asEmoji = '\ufe0f'

func columns(character string) int {
	n := widths.StringWidth(character)
	if n == 1 && strings.ContainsRune(character, asEmoji) {
		return 2
	}
	return n
}

func join(clusters []cluster) string {
	var b strings.Builder
	for _, c := range clusters {
		b.WriteString(c.text)
	}
	return b.String()
}
