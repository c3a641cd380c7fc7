package openapi

import (
	"net/url"
	"slices"
	"strings"
)

// Match returns the operation for a method and a request path. A parameter at the
// end of a path matches the rest, slashes included; the path with the longest
// literal prefix wins.
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

// literal is the path before its first parameter.
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

// RawPath escapes the slashes in the parameter at the end of a path, so that a router
// sees one segment. It is empty where the path has no such parameter.
func (d *Document) RawPath(path string) string {
	o, ok := d.match(path, func(*Operation) bool { return true })
	if !ok || !strings.HasSuffix(o.Path, "}") || strings.Count(o.Path, "{") > 1 {
		return ""
	}
	return o.literal() + url.PathEscape(path[len(o.literal()):])
}

// ForPath returns the document that has paths with the same first two segments, such
// as /v1/messages; ok is false if neither or both have them.
func (d Documents) ForPath(path string) (document *Document, ok bool) {
	first := beginning(d.SuggestedPath(path))
	openAI, anthropic := d.OpenAI.begins(first), d.Anthropic.begins(first)
	if anthropic {
		return d.Anthropic, !openAI
	}
	return d.OpenAI, openAI
}

// beginning is the first two segments of a path.
func beginning(path string) string {
	base, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	rest, _, _ = strings.Cut(rest, "/")
	return "/" + base + "/" + rest
}

func (d *Document) begins(first string) bool {
	return slices.ContainsFunc(d.operations, func(o *Operation) bool { return o.Path == first || strings.HasPrefix(o.Path, first+"/") })
}

// Base is the first segment of all paths: /v1.
func (d Documents) Base() string {
	base, _, _ := strings.Cut(d.OpenAI.operations[0].Path[1:], "/")
	return "/" + base
}

// SuggestedPath returns the path that a client with the correct base URL would have
// requested. A base URL without /v1, with two of them, or with a whole endpoint is the
// most common mistake.
func (d Documents) SuggestedPath(path string) string {
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
