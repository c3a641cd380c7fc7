package sandbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/chat/template/control"
)

// prelex rewrites a template source, with placeholders of s for special tokens.
func prelex(source string, g guards, s *control.Tokens) (string, error) {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	source = strings.ReplaceAll(source, "\r", "\n")
	source = strings.TrimSuffix(source, "\n")
	pieces, err := cutTemplate(source)
	if err != nil {
		return "", err
	}
	trimBlocks(pieces)
	var b strings.Builder
	w := statements{names: g, loops: slices.ContainsFunc(pieces, templatePiece.recurses)}
	for _, p := range pieces {
		text := ""
		var err error
		switch p.kind {
		case 't':
			if text = p.body; text != "" {
				text = "{{ " + quoteLiteral(s.EncodeSpecial(text, control.Printed)) + " }}"
			}
		case '{':
			text, err = w.output(encodeTag(s, p.body))
		case '%':
			text, err = w.write(encodeTag(s, p.body))
		}
		if err != nil {
			return "", fmt.Errorf("in %.60q: %w", p.body, err)
		}
		b.WriteString(text)
	}
	s.Finish(asksForASCII.MatchString(source))
	return b.String(), nil
}

var asksForASCII = regexp.MustCompile(`(?i)ensure_ascii\s*=\s*true`)
