package report

import (
	"fmt"
	"io"
)

// Badge writes the score as an SVG image for a README.
func (s Summary) Badge(w io.Writer) error {
	const left = 82 // pixels of "conformance"
	score := fmt.Sprintf("%.1f %%", s.Score())
	right := 10 + 7*len(score)
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="20" role="img" aria-label="conformance: %[2]s">
<title>conformance: %[2]s</title>
<rect rx="3" width="%[1]d" height="20" fill="#444"/>
<path d="M%[3]d 0h%[5]da3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-%[5]dz" fill="%[6]s"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="%[7]d" y="14">conformance</text>
<text x="%[8]d" y="14">%[2]s</text>
</g>
</svg>
`, left+right, score, left, right, right-3, colour(s.Score()), left/2, left+right/2)
	return err
}

// colour has enough contrast with white text.
func colour(score float64) string {
	switch {
	case score >= 99:
		return "#2a7d2a"
	case score >= 90:
		return "#7a6a00"
	}
	return "#b03030"
}
