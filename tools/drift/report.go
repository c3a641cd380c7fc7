package main

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/tools/internal/comparison"
)

// language is the types of the SDKs of one language.
type language struct {
	sdk
	types
}

// report is what the documents and the SDKs do not have in common.
type report struct {
	SDKs   []string // with versions
	Styles []style
	Unused []string // entries of reasons.yaml
}

type style struct {
	Title      string
	Operations []operation
}

type operation struct {
	Name    string
	Fields  int // that both sides have
	Found   []finding
	Listed  []string
	Refused string
}

// finding is a difference, and the languages whose SDKs show it.
type finding struct {
	comparison.Difference
	Languages []string
}

//go:embed reasons.yaml
var reasonsFile []byte

// compare compares both documents with the SDKs of all languages.
func compare(parts []part, read []language) (report, error) {
	var r report
	for _, l := range read {
		for _, name := range slices.Sorted(maps.Keys(l.Versions)) {
			r.SDKs = append(r.SDKs, fmt.Sprintf("%s: %s %s", l.language, name, l.Versions[name]))
		}
	}
	compared, err := compareAll(parts, read)
	if err != nil {
		return r, err
	}
	own, err := comparison.ReadReasons(reasonsFile)
	if err != nil {
		return r, err
	}
	known, err := comparison.Known()
	if err != nil {
		return r, err
	}
	r.Unused = own.Explain(comparison.Report{Styles: compared})
	known.Explain(comparison.Report{Styles: compared}) // vendorcheck says which are unused
	for at, one := range compared {
		if at%len(read) == 0 {
			r.Styles = append(r.Styles, style{Title: one.Title})
		}
		r.Styles[len(r.Styles)-1].add(one, read[at%len(read)].sdk.language)
	}
	for i := range r.Styles {
		r.Styles[i].dropPartly(len(read))
	}
	return r, nil
}

// compareAll compares each of our documents with the SDKs of all languages, in order.
func compareAll(parts []part, read []language) ([]comparison.Compared, error) {
	var all []comparison.Compared
	for _, s := range []struct{ name, title, file string }{
		{"openai", "OpenAI style", "openapi/openai.yaml"},
		{"anthropic", "Anthropic style", "openapi/anthropic.yaml"},
	} {
		ours, err := comparison.Read(s.file)
		if err != nil {
			return nil, err
		}
		own := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.Style != s.name })
		for _, l := range read {
			vendor, err := l.document(s.title, own, l.sdk)
			if err != nil {
				return nil, err
			}
			one, err := comparison.Compare(ours, vendor, comparison.Links{})
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", s.title, l.language, err)
			}
			one.Title = s.title
			all = append(all, one)
		}
	}
	return all, nil
}

// add merges the result for one language.
func (s *style) add(one comparison.Compared, language string) {
	for _, o := range one.Operations {
		i := slices.IndexFunc(s.Operations, func(p operation) bool { return p.Name == o.Name })
		if i < 0 {
			i = len(s.Operations)
			s.Operations = append(s.Operations, operation{Name: o.Name, Refused: o.Refused})
		}
		s.Operations[i].add(o, language)
	}
}

func (o *operation) add(one comparison.Operation, language string) {
	o.Fields = max(o.Fields, one.Fields)
	for _, field := range one.Listed {
		if !slices.Contains(o.Listed, field) {
			o.Listed = append(o.Listed, field)
		}
	}
	for _, d := range one.Differences {
		i := slices.IndexFunc(o.Found, func(f finding) bool {
			return f.Part == d.Part && f.Field == d.Field && f.Kind == d.Kind
		})
		if i < 0 {
			i = len(o.Found)
			o.Found = append(o.Found, finding{Difference: d})
		}
		o.Found[i].Languages = append(o.Found[i].Languages, language)
	}
}

// dropPartly drops what the SDKs of one language alone show, except what we lack: the
// languages do not have the same types (TypeScript has no integers, and in Python a
// member that may be null may be missing).
func (s *style) dropPartly(languages int) {
	for i := range s.Operations {
		o := &s.Operations[i]
		o.Found = slices.DeleteFunc(o.Found, func(f finding) bool {
			return f.Kind != comparison.Lacks && len(f.Languages) < languages
		})
	}
}

// Unexplained lists what has no reason, by operation.
func (r report) Unexplained() []finding {
	var all []finding
	for _, s := range r.Styles {
		for _, o := range s.Operations {
			for _, f := range o.Found {
				if f.Reason == "" {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// summarise prints what needs attention, then the counts.
func (r report) summarise(said io.Writer) {
	unexplained := r.Unexplained()
	for _, f := range unexplained {
		fmt.Fprintf(said, "unexplained: %s, %s: %s: %s (%s: %s; ours: %s)\n", f.Operation, f.Part, f.Field, f.Kind, strings.Join(f.Languages, " and "), f.Vendor, f.Ours)
	}
	for _, pattern := range r.Unused {
		fmt.Fprintf(said, "reasons.yaml: explains nothing: %s\n", pattern)
	}
	fields, found := 0, 0
	for _, s := range r.Styles {
		for _, o := range s.Operations {
			fields, found = fields+o.Fields, found+len(o.Found)
		}
	}
	fmt.Fprintf(said, "%s: %d fields compared, %d differences, %d unexplained\n", strings.Join(r.SDKs, ", "), fields, found, len(unexplained))
}
