package openapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// compileHeaders compiles the headers of a reply, sorted by name.
func compileHeaders(in openapi3.Headers, c *compiler) ([]Parameter, error) {
	var all []Parameter
	for name, ref := range in {
		p, err := compileParameter(&ref.Value.Parameter, c.profile, c)
		if err != nil {
			return nil, fmt.Errorf("header %s: %w", name, err)
		}
		p.Name, p.In = name, "header"
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Parameter) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all, nil
}

// CheckHeaders checks the headers of a reply: required ones are present, declared ones have
// valid values, and others accepts the rest.
func (r *Reply) CheckHeaders(header http.Header, others func(name string) bool) error {
	declared := map[string]bool{}
	for i := range r.Headers {
		p := &r.Headers[i]
		declared[http.CanonicalHeaderKey(p.Name)] = true
		values := header.Values(p.Name)
		if len(values) == 0 && p.Required || len(values) > 1 {
			return fmt.Errorf("header %s comes %d times", p.Name, len(values))
		}
		for _, value := range values {
			if v := p.check(value); v != nil {
				return fmt.Errorf("header %w: %q", v, value)
			}
		}
	}
	for name := range header {
		if !declared[name] && !others(name) {
			return fmt.Errorf("header %s is not in the document", name)
		}
	}
	return nil
}

// ReplyHeaders returns the names of all headers in replies.
func (d Documents) ReplyHeaders() []string {
	var names []string
	for _, document := range []*Document{d.OpenAI, d.Anthropic} {
		for _, o := range document.operations {
			for _, r := range o.Replies {
				for _, h := range r.Headers {
					names = append(names, h.Name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
