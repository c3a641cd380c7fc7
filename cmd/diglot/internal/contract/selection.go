package contract

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// selection is a repeatable flag: which names are chosen. None chooses all.
type selection struct {
	texts []string
	all   []*regexp.Regexp
}

func (p *selection) String() string { return strings.Join(p.texts, " ") }

func (p *selection) Type() string { return "pattern" }

// Set reads a name, a part of one up to a slash, a glob whose * and ? also match slashes,
// or a regular expression between slashes.
func (p *selection) Set(text string) error {
	if text == "" {
		return errors.New("empty value")
	}
	expression := "^" + globs.Replace(regexp.QuoteMeta(strings.TrimSuffix(text, "/"))) + "(/.*)?$"
	if len(text) > 2 && text[0] == '/' && text[len(text)-1] == '/' {
		expression = text[1 : len(text)-1]
	}
	r, err := regexp.Compile(expression)
	if err != nil {
		return err
	}
	p.texts, p.all = append(p.texts, text), append(p.all, r)
	return nil
}

// globs turns a quoted glob into a regular expression.
var globs = strings.NewReplacer(`\*`, ".*", `\?`, ".")

func (p *selection) match(name string) bool {
	return len(p.all) == 0 || slices.ContainsFunc(p.all, func(r *regexp.Regexp) bool { return r.MatchString(name) })
}
