package openapi

import (
	"encoding/json/jsontext"
	"net/http"
	"net/url"
	"strconv"
)

// CheckParameters checks the parameters that the operation declares, and no others. path
// returns a path parameter by name. Parameters without effect are returned, as in
// [Checked.Ignored].
func (o *Operation) CheckParameters(query url.Values, header http.Header, path func(name string) string) ([]Ignored, *Violation) {
	var ignored []Ignored
	for i := range o.Parameters {
		p := &o.Parameters[i]
		var values []string
		switch p.In {
		case "path":
			values = []string{path(p.Name)}
		case "query":
			values = query[p.Name]
		case "header":
			values = header.Values(p.Name)
		}
		switch {
		case len(values) == 0 && p.Required:
			return nil, &Violation{Pointer: []string{p.Name}, Rule: RuleRequired, Reason: "is required"}
		case len(values) == 0:
			continue
		case p.effect == SupportIgnored:
			ignored = append(ignored, Ignored{Name: p.Name, Pointer: []string{p.Name}, Mark: p.Mark})
			continue
		}
		if v := p.checkAll(values); v != nil {
			return nil, v
		}
	}
	return ignored, nil
}

// checkAll checks the values of a parameter. Several are a list of strings.
func (p *Parameter) checkAll(values []string) *Violation {
	if p.Schema.Kinds&Array != 0 {
		text := []byte{'['}
		for i, value := range values {
			if i > 0 {
				text = append(text, ',')
			}
			text, _ = jsontext.AppendQuote(text, value) // invalid UTF-8 becomes U+FFFD
		}
		return p.checkText(append(text, ']'))
	}
	if len(values) > 1 {
		return &Violation{Pointer: []string{p.Name}, Rule: RuleLength, Reason: "must be given once"}
	}
	return p.check(values[0])
}

// check checks the text of a parameter: as a string if the schema accepts one, else as
// JSON. An integer must be plain digits: the client's own text is bound, so 1e2 cannot
// become 100 as it does in a body.
func (p *Parameter) check(value string) *Violation {
	if p.Schema.Kinds&Integer != 0 && p.Schema.Kinds&(Number|String) == 0 {
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			return &Violation{Pointer: []string{p.Name}, Rule: RuleType, Reason: "must be " + p.Schema.Kinds.nouns()}
		}
	}
	text := []byte(value)
	if p.Schema.Kinds&String != 0 || jsontext.Value(text).Kind() == '"' {
		text, _ = jsontext.AppendQuote(nil, value) // invalid UTF-8 becomes U+FFFD
	}
	return p.checkText(text)
}

// checkText checks the JSON of a parameter.
func (p *Parameter) checkText(text []byte) *Violation {
	t, v := parse(text, unbounded)
	if v != nil {
		return &Violation{Pointer: []string{p.Name}, Rule: RuleType, Reason: "must be " + p.Schema.Kinds.nouns()}
	}
	if _, v = t.check(&p.Use); v != nil {
		v.Pointer = []string{p.Name}
	}
	return v
}
