// Package difference compares two recordings of the same cases: what one server
// answers against what another one does, or the same one later.
//
// What a model says is no difference, nor are ids and times; but a field that is
// missing, added, of another type, or of another value where the value is a word of
// the API. Objects have no order; lists of typed items and the events of a stream
// have. The same difference in several cases is one [Difference].
package difference

import (
	"cmp"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/internal/cassette"
)

// Kind is what is different.
type Kind string

// The kinds of differences.
const (
	Absent   Kind = "absent"  // a whole case or request is in one recording only
	Status   Kind = "status"  // of the reply
	Header   Kind = "header"  // of the reply
	Missing  Kind = "missing" // a field
	Added    Kind = "added"   // a field
	Presence Kind = "presence"
	Type     Kind = "type"
	Value    Kind = "value"
	Order    Kind = "order" // of events
	Body     Kind = "body"  // JSON, a stream, or text
)

// Difference is one difference in all cases that have it. Its words are about the
// second recording: "missing" is a field that only the first one has.
type Difference struct {
	Operation string   `json:"operation"`       // method and path
	Event     string   `json:"event,omitempty"` // of a stream
	Path      string   `json:"path,omitempty"`  // of a field, or the name of a header
	Kind      Kind     `json:"kind"`
	Text      string   `json:"text"`
	Cases     []string `json:"cases"`
}

// Comparison is the result of comparing two recordings.
type Comparison struct {
	Cases       int          `json:"cases"` // in both
	Same        int          `json:"same"`  // without a difference
	Differences []Difference `json:"differences"`
}

// finding is a difference of one exchange, without its operation.
type finding struct {
	Event, Path, Text string
	Kind              Kind
}

// Compare compares two recordings case by case. Two single ones are the same case,
// whatever their names.
func Compare(before, now []cassette.Cassette) Comparison {
	if len(before) == 1 && len(now) == 1 {
		now = []cassette.Cassette{{Name: before[0].Name, Interactions: now[0].Interactions}}
	}
	c := collector{at: map[key]int{}}
	later := map[string]cassette.Cassette{}
	for _, b := range now {
		later[b.Name] = b
	}
	for _, a := range before {
		b, ok := later[a.Name]
		if !ok {
			c.add("", a.Name, finding{Kind: Absent, Text: "the case is missing"})
			continue
		}
		delete(later, a.Name)
		c.Cases++
		if !c.compare(a, b) {
			c.Same++
		}
	}
	for _, b := range now {
		if _, added := later[b.Name]; added {
			c.add("", b.Name, finding{Kind: Absent, Text: "the case is added"})
		}
	}
	slices.SortStableFunc(c.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(len(b.Cases), len(a.Cases)),
			cmp.Compare(a.Event, b.Event), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text))
	})
	return c.Comparison
}

// Without returns the comparison without the differences that match: by event and
// path, or by path alone.
func (c Comparison) Without(ignored []*regexp.Regexp) Comparison {
	c.Differences = slices.DeleteFunc(slices.Clone(c.Differences), func(d Difference) bool {
		return slices.ContainsFunc(ignored, func(e *regexp.Regexp) bool { return e.MatchString(d.Place()) })
	})
	different := map[string]bool{}
	for _, d := range c.Differences {
		for _, name := range d.Cases {
			different[name] = different[name] || d.Operation != "" // else it is in one recording only
		}
	}
	maps.DeleteFunc(different, func(_ string, in bool) bool { return !in })
	c.Same = c.Cases - len(different)
	return c
}

// Place is where a difference is: "event: path", each where there is one.
func (d Difference) Place() string {
	if d.Event != "" && d.Path != "" {
		return d.Event + ": " + d.Path
	}
	return d.Event + d.Path
}

// key is what makes two findings one difference.
type key struct {
	operation string
	finding
}

// collector collects findings.
type collector struct {
	Comparison
	at map[key]int
}

func (c *collector) add(operation, name string, f finding) {
	k := key{operation, f}
	i, ok := c.at[k]
	if !ok {
		i = len(c.Differences)
		c.at[k] = i
		c.Differences = append(c.Differences, Difference{Operation: operation, Event: f.Event, Path: f.Path, Kind: f.Kind, Text: f.Text})
	}
	if d := &c.Differences[i]; !slices.Contains(d.Cases, name) {
		d.Cases = append(d.Cases, name)
	}
}

// compare compares the exchanges of one case, and reports whether any differ.
func (c *collector) compare(a, b cassette.Cassette) bool {
	different := false
	found := func(operation string, f finding) {
		different = true
		c.add(operation, a.Name, f)
	}
	for _, p := range pairs(a.Interactions, b.Interactions) {
		switch {
		case p.now == nil:
			found(operation(p.before.Request), finding{Kind: Absent, Text: "a request is missing"})
		case p.before == nil:
			found(operation(p.now.Request), finding{Kind: Absent, Text: "a request is added"})
		default:
			for _, f := range compareReplies(p.before.Response, p.now.Response) {
				found(operation(p.before.Request), f)
			}
		}
	}
	return different
}

// pair is one exchange in both recordings, or in one.
type pair struct{ before, now *cassette.Interaction }

// pairs finds the exchanges with the same request, and among those that are left the next
// ones of the same operation: later requests of a case repeat what a model said.
func pairs(before, now []cassette.Interaction) []pair {
	all := make([]pair, len(before))
	rest := make([]*cassette.Interaction, len(now))
	for i := range before {
		all[i].before = &before[i]
	}
	for i := range now {
		rest[i] = &now[i]
	}
	for _, equal := range []func(cassette.Request) string{cassette.Key, operation} {
		for i := range all {
			if all[i].now != nil {
				continue
			}
			wanted := equal(all[i].before.Request)
			if at := slices.IndexFunc(rest, func(o *cassette.Interaction) bool { return equal(o.Request) == wanted }); at >= 0 {
				all[i].now = rest[at]
				rest = slices.Delete(rest, at, at+1)
			}
		}
	}
	for _, o := range rest {
		all = append(all, pair{now: o})
	}
	return all
}

// operation is the method and path of a request.
func operation(r cassette.Request) string {
	path := r.URL
	if u, err := url.Parse(r.URL); err == nil {
		path = u.Path
	}
	return r.Method + " " + path
}

func compareReplies(a, b cassette.Response) []finding {
	var all []finding
	if a.Code != b.Code {
		all = append(all, finding{Kind: Status, Path: "status", Text: strconv.Itoa(b.Code) + ", not " + strconv.Itoa(a.Code)})
	}
	if isError(a) != isError(b) {
		return all // the rest has nothing in common
	}
	all = append(all, compareHeaders(a.Headers, b.Headers)...)
	if a.Aborted != b.Aborted {
		all = append(all, finding{Kind: Body, Text: map[bool]string{true: "the reply breaks off", false: "the reply does not break off"}[b.Aborted]})
	}
	return append(all, compareBodies(a, b)...)
}

func isError(r cassette.Response) bool { return r.Code >= http.StatusBadRequest }

// compareHeaders compares headers by presence, and those that are words by value.
func compareHeaders(a, b http.Header) []finding {
	var all []finding
	for name := range a {
		if _, ok := b[name]; !ok {
			all = append(all, finding{Kind: Header, Path: name, Text: "header missing"})
		} else if was, is := header(name, a), header(name, b); was != is {
			all = append(all, finding{Kind: Header, Path: name, Text: is + ", not " + was})
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			all = append(all, finding{Kind: Header, Path: name, Text: "header added"})
		}
	}
	return all
}

// header is the value of a header; of a type, without the charset that JSON has anyway.
func header(name string, h http.Header) string {
	value := strings.Join(h[name], ", ")
	switch {
	case strings.HasSuffix(name, "Request-Id"):
		return ""
	case name == "Content-Type":
		if kind, _, err := mime.ParseMediaType(value); err == nil {
			return kind
		}
	}
	return value
}

// The forms of a body.
const (
	formNone   = "no body"
	formJSON   = "JSON"
	formStream = "a stream of events"
	formText   = "text"
)

func form(r cassette.Response) string {
	if strings.HasPrefix(r.Headers.Get("Content-Type"), "text/event-stream") {
		return formStream
	}
	if r.Body == "" {
		return formNone
	}
	if _, ok := decode(r.Body); ok {
		return formJSON
	}
	return formText
}

func compareBodies(a, b cassette.Response) []finding {
	was, is := form(a), form(b)
	switch {
	case was != is:
		return []finding{{Kind: Body, Text: is + ", not " + was}}
	case is == formStream:
		return compareStreams(a.Body, b.Body)
	case is == formJSON:
		before, _ := decode(a.Body)
		now, _ := decode(b.Body)
		return compare(shapeOf([]any{before}), shapeOf([]any{now}))
	}
	return nil
}
