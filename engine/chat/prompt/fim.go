package prompt

import "strings"

// FIM holds the fill-in-the-middle tokens of a model, with the white space that
// its template has beside them. All are empty if it has none.
type FIM struct {
	Prefix, Suffix, Middle string

	// SuffixFirst: the prompt is suffix, then prefix (SPM). The model continues
	// the prefix, and needs no Middle.
	SuffixFirst bool
}

// Known reports whether the model has the tokens it needs.
func (f FIM) Known() bool {
	return strings.TrimSpace(f.Prefix) != "" && strings.TrimSpace(f.Suffix) != "" && (f.SuffixFirst || strings.TrimSpace(f.Middle) != "")
}
