package openapi

import (
	"net/url"
	"slices"
	"strings"
)

// Match returns the operation behind a method and a path, as [Document.Route] does
// for a route. A parameter at the end of a path takes the rest of it, slashes
// included; of several paths the one with the longest text before its first
// parameter wins.
func (d *Document) Match(method, path string) (*Operation, bool) {
	return d.match(path, func(o *Operation) bool { return o.Method == method })
}

func (d *Document) match(path string, is func(*Operation) bool) (best *Operation, ok bool) {
	for _, o := range d.operations {
		if is(o) && o.takes(path) && (best == nil || len(o.literal()) > len(best.literal())) {
			best = o
		}
	}
	return best, best != nil
}

// literal is the path up to its first parameter.
func (o *Operation) literal() string {
	literal, _, _ := strings.Cut(o.Path, "{")
	return literal
}

func (o *Operation) takes(path string) bool {
	template := o.Path
	for {
		literal, parameter, found := strings.Cut(template, "{")
		rest, ok := strings.CutPrefix(path, literal)
		if !ok || !found {
			return ok && rest == ""
		}
		_, template, _ = strings.Cut(parameter, "}")
		if template == "" {
			return rest != ""
		}
		value, _, _ := strings.Cut(rest, "/")
		if value == "" {
			return false
		}
		path = rest[len(value):]
	}
}

// RawPath is a path as a router reads it: the parameter at its end, which may have
// come with slashes, is one segment. It is empty where there is nothing to do.
func (d *Document) RawPath(path string) string {
	o, ok := d.match(path, func(*Operation) bool { return true })
	if !ok || !strings.HasSuffix(o.Path, "}") || strings.Count(o.Path, "{") > 1 {
		return ""
	}
	return o.literal() + url.PathEscape(path[len(o.literal()):])
}

// Of returns the document that alone has paths with the first segments of this one,
// such as /v1/messages; ok is false where none has, or both have.
func (d Documents) Of(path string) (document *Document, ok bool) {
	first := beginning(d.Right(path))
	openAI, anthropic := d.OpenAI.begins(first), d.Anthropic.begins(first)
	if anthropic {
		return d.Anthropic, !openAI
	}
	return d.OpenAI, openAI
}

// beginning is the base of all paths and the segment behind it.
func beginning(path string) string {
	base, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	rest, _, _ = strings.Cut(rest, "/")
	return "/" + base + "/" + rest
}

func (d *Document) begins(first string) bool {
	return slices.ContainsFunc(d.operations, func(o *Operation) bool { return o.Path == first || strings.HasPrefix(o.Path, first+"/") })
}

// Base is what all paths of both documents begin with: /v1.
func (d Documents) Base() string {
	base, _, _ := strings.Cut(d.OpenAI.operations[0].Path[1:], "/")
	return "/" + base
}

// Right returns the path that a client with the right base URL would have asked
// for. A base URL that lacks /v1, has it twice, or is a whole endpoint, is the most
// common mistake of all.
func (d Documents) Right(path string) string {
	base := d.Base()
	if rest, ok := strings.CutPrefix(path, base+base+"/"); ok {
		return base + "/" + rest
	}
	if first := beginning(base + path); d.OpenAI.begins(first) || d.Anthropic.begins(first) {
		return base + path
	}
	for _, document := range []*Document{d.OpenAI, d.Anthropic} {
		for _, o := range document.operations {
			rest, ok := strings.CutPrefix(path, o.Path)
			if _, known := document.Match(o.Method, path); ok && !known && (rest == o.Path || base+rest == o.Path) {
				return o.Path
			}
		}
	}
	return path
}
