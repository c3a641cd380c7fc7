// Package report shows the outcome of a run of scenarios: as text for a terminal, as JSON,
// as JUnit XML for CI systems, as Markdown, and as a badge. A [Baseline] is a file of the
// scenarios that are known to fail, so that a run can tell new failures from old ones.
//
// A [Summary] is what all of them show. What a server sent is shown only in part, without
// control characters, and without the secrets of the run.
package report

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// Summary is a report and what it is about.
type Summary struct {
	conformance.Report

	Server  string // base URL
	Models  conformance.Models
	Profile openapi.Profile
	Marks   bool
	Date    time.Time

	Docs     string   // base URL of the reference, for links; empty: /docs/, where diglot serves it
	Baseline Baseline // what is known to fail; nil: nothing is known
	Secrets  []string // never shown
}

// Group is the results of one subject: openai/chat.
type Group struct {
	Name    string
	Results []conformance.Result
}

// Groups returns the results by style and subject, in the order of their first result.
func (s Summary) Groups() []Group {
	var groups []Group
	at := map[string]int{}
	for _, r := range s.Results {
		name, _ := Split(r.Name)
		i, ok := at[name]
		if !ok {
			i = len(groups)
			at[name] = i
			groups = append(groups, Group{Name: name})
		}
		groups[i].Results = append(groups[i].Results, r)
	}
	return groups
}

// Count returns how many results of the group ended so.
func (g Group) Count(o conformance.Outcome) int {
	return conformance.Report{Results: g.Results}.Count(o)
}

// Split cuts a scenario's name into style/subject and the promise.
func Split(name string) (group, promise string) {
	style, rest, _ := strings.Cut(name, "/")
	subject, promise, ok := strings.Cut(rest, "/")
	if !ok {
		return style, subject
	}
	return style + "/" + subject, promise
}

// Reason is why scenarios were not tested, and which.
type Reason struct {
	Reason string
	Names  []string
}

// Reasons lists why scenarios ended so, the most frequent reason first.
func (s Summary) Reasons(o conformance.Outcome) []Reason {
	var all []Reason
	for _, r := range s.Results {
		if r.Outcome != o {
			continue
		}
		i := slices.IndexFunc(all, func(known Reason) bool { return known.Reason == r.Reason })
		if i < 0 {
			i = len(all)
			all = append(all, Reason{Reason: r.Reason})
		}
		all[i].Names = append(all[i].Names, r.Name)
	}
	slices.SortStableFunc(all, func(a, b Reason) int { return cmp.Compare(len(b.Names), len(a.Names)) })
	return all
}

// Link is where the reference describes what a scenario is about; empty for those of no
// operation.
func (s Summary) Link(of conformance.Scenario) string {
	base := cmp.Or(s.Docs, "/docs/")
	if of.Operation == "" {
		return ""
	}
	link := strings.TrimSuffix(base, "/") + "/" + string(of.Style()) + "/" + url.PathEscape(of.Operation) + ".html"
	_, promise := Split(of.Name)
	if field, ok := strings.CutPrefix(promise, "field/"); ok && field != "body" {
		link += "#body-" + anchors.Replace(field)
	}
	return link
}

// anchors writes messages[role=user].content[] as the reference does: messages-role-user-content.
var anchors = strings.NewReplacer("[]", "", "[", "-", "=", "-", "]", "", ".", "-")

// clean is text of a server for people: whole characters, no controls, no secrets.
func (s Summary) clean(text string) string {
	return hide(Plain(text), s.Secrets)
}

// Plain is a text without what moves the cursor of a terminal, turns the order of letters,
// or is a command to the CI system that reads the output.
func Plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return lineCommand.ReplaceAllString(blockCommand.ReplaceAllString(text, "# #$1"), "$1: :")
}

// The commands of CI systems: ##vso[task.x], ##[error] and ##teamcity[x] anywhere in a line,
// and ::error:: at its start.
var (
	blockCommand = regexp.MustCompile(`##([A-Za-z]*\[)`)
	lineCommand  = regexp.MustCompile(`(?m)^(\s*)::`)
)

// cut is the start of a text, of which there may be more than is left here: whole bytes.
func cut(text string, most, whole int) string {
	if len(text) <= most && len(text) >= whole {
		return text
	}
	return strings.ToValidUTF8(text[:min(most, len(text))], "") + " … (" + size(max(len(text), whole)) + ")"
}

// head is the start of a text of a server, without the start of a secret at its end. It
// keeps long texts from being cleaned and quoted as a whole.
func (s Summary) head(text []byte, most int, isCut bool) []byte {
	if len(text) <= most && !isCut {
		return text
	}
	text = text[:min(most, len(text))]
	return text[:begun(string(text), s.Secrets)]
}

// reason is why a scenario was not tested, which may hold a whole reply.
func (s Summary) reason(text string) string {
	const most = 300
	return cut(s.clean(string(s.head([]byte(text), most, false))), most, len(text))
}
