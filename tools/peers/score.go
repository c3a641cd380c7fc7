package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/report"
)

// score is how a server did, in a file of its own.
type score struct {
	about  `yaml:",inline"`
	Groups []group `yaml:"groups"`
}

// counts are scenarios by outcome.
type counts struct {
	Passed     int `yaml:"passed"`
	Failed     int `yaml:"failed"`
	Skipped    int `yaml:"skipped"`
	NotOffered int `yaml:"not_offered"`
}

// group is the scenarios of one style and subject: openai/chat.
type group struct {
	Name     string `yaml:"name"`
	counts   `yaml:",inline"`
	Failures []failure `yaml:"failures,omitempty"`
}

// failure is a promise that is not kept, in one line.
type failure struct {
	Promise string `yaml:"promise"`
	Message string `yaml:"message"`
}

func scoreOf(results []result) score {
	var s score
	for _, r := range results {
		name, promise := report.Split(r.Name)
		i := slices.IndexFunc(s.Groups, func(g group) bool { return g.Name == name })
		if i < 0 {
			i = len(s.Groups)
			s.Groups = append(s.Groups, group{Name: name})
		}
		s.Groups[i].add(promise, r)
	}
	return s
}

// within puts the groups of s into the score of a file, which is of the same version.
func (s score) within(file string) (score, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return score{}, err
	}
	var whole score
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return score{}, fmt.Errorf("%s: %w", file, err)
	}
	if whole.Version != s.Version {
		return score{}, fmt.Errorf("%s is of version %s, and this is %s: verify all of it", file, whole.Version, s.Version)
	}
	whole.Date = s.Date
	for _, g := range s.Groups {
		i := slices.IndexFunc(whole.Groups, func(old group) bool { return old.Name == g.Name })
		if i < 0 {
			return score{}, fmt.Errorf("%s has no group %s: verify all of it", file, g.Name)
		}
		whole.Groups[i] = g
	}
	return whole, nil
}

func (g *group) add(promise string, r result) {
	switch r.Outcome {
	case conformance.Pass:
		g.Passed++
	case conformance.Skipped:
		g.Skipped++
	case conformance.NotOffered:
		g.NotOffered++
	case conformance.Fail:
		g.Failed++
		message := ""
		if len(r.Failures) > 0 {
			message = oneLine(withoutField(promise, r.Failures[0].Message))
		}
		g.Failures = append(g.Failures, failure{promise, message})
	}
}

// subject is the field in the messages about fields, where the promise has it already.
var subject = regexp.MustCompile(`(?s)^\S+: (.*)$`)

// named is the field that an error should have named.
var named = regexp.MustCompile(`does not name \S+$`)

// withoutField makes the messages of one deviation alike, whatever field has it.
func withoutField(promise, message string) string {
	if !strings.HasPrefix(promise, "field/") {
		return message
	}
	return named.ReplaceAllString(subject.ReplaceAllString(message, "$1"), "does not name the field")
}

// lineLength is how much of a message the page has.
const lineLength = 140

func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) <= lineLength {
		return string(line)
	}
	return string(line[:lineLength]) + "…"
}

func (s score) total() counts {
	var all counts
	for _, g := range s.Groups {
		all.Passed += g.Passed
		all.Failed += g.Failed
		all.Skipped += g.Skipped
		all.NotOffered += g.NotOffered
	}
	return all
}

// share is the passed among those that passed or failed, in per cent.
func (c counts) share() float64 {
	return 100 * float64(c.Passed) / float64(max(c.Passed+c.Failed, 1))
}

func (s score) share() float64 { return s.total().share() }
