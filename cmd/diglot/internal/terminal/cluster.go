package terminal

import (
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/mattn/go-runewidth"
)

// cluster is what a person takes for one character: a letter with its
// accents, or an emoji of several parts. The cursor does not stop inside.
type cluster struct {
	text    string
	columns int // of the terminal: 2 for Chinese and most emoji
}

// widths counts a character as narrow where Unicode leaves it open, as
// terminals do unless they are told otherwise.
var widths = &runewidth.Condition{StrictEmojiNeutral: true}

func split(text string) []cluster {
	var all []cluster
	for each := graphemes.FromString(text); each.Next(); {
		all = append(all, cluster{each.Value(), columns(each.Value())})
	}
	return all
}

// asEmoji asks for the colored form of the character before it, which is as
// wide as any emoji, whatever the character is by itself.
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
