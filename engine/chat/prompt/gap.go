package prompt

import "strings"

// FIM is how a model fills in the middle of a text: the spellings of the
// control tokens, and the space that its template has beside them, in front of
// what precedes the gap, of what follows it, and of what the model then writes.
// All are empty where it cannot.
type FIM struct {
	Prefix, Suffix, Middle string

	// SuffixFirst says that what follows the gap comes first. Then the model
	// goes on where the text before the gap ends, and needs no Middle.
	SuffixFirst bool
}

// Known reports whether the model can.
func (f FIM) Known() bool {
	return strings.TrimSpace(f.Prefix) != "" && strings.TrimSpace(f.Suffix) != "" && (f.SuffixFirst || strings.TrimSpace(f.Middle) != "")
}
