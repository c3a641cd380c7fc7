package comparison

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed reasons.yaml
var known []byte

// Known returns the reasons of reasons.yaml.
func Known() (*Reasons, error) { return ReadReasons(known) }

// Reasons says why documents differ where no mark says it.
type Reasons struct {
	Links   map[string]Links `yaml:"links"` // by title of the style
	Reasons []reason         `yaml:"reasons"`
}

// reason explains differences. * matches any characters.
type reason struct {
	Style     string   `yaml:"style"`     // title of the style
	Operation string   `yaml:"operation"` // method and path
	Part      string   `yaml:"part"`      // body, query, header, reply, event or error
	Kind      string   `yaml:"kind"`      // lacks, type, values, required or optional
	Fields    []string `yaml:"fields"`
	Reason    string   `yaml:"reason"`
}

// ReadReasons reads a file such as reasons.yaml.
func ReadReasons(text []byte) (*Reasons, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	var r Reasons
	if err := decoder.Decode(&r); err != nil {
		return nil, fmt.Errorf("reasons.yaml: %w", err)
	}
	for i := range r.Reasons {
		one := &r.Reasons[i]
		if len(strings.Fields(one.Reason)) < 3 || len(one.Fields) == 0 {
			return nil, fmt.Errorf("reasons.yaml: entry %d has no reason or no fields", i+1)
		}
		for _, all := range []*string{&one.Style, &one.Operation, &one.Part, &one.Kind} {
			if *all == "" {
				*all = "*"
			}
		}
	}
	return &r, nil
}

// Explain sets the reason of each difference that has none yet: the mark of our field,
// else the first entry that matches. It returns the unused entries.
func (r *Reasons) Explain(report Report) (unused []string) {
	used := map[string]bool{}
	for _, style := range report.Styles {
		for _, o := range style.Operations {
			for i := range o.Differences {
				d := &o.Differences[i]
				if d.Reason == "" {
					d.Reason = d.Mark
				}
				if d.Reason == "" {
					r.find(style.Title, d, used)
				}
			}
		}
	}
	for _, one := range r.Reasons {
		for _, field := range one.Fields {
			if !used[one.name(field)] {
				unused = append(unused, one.name(field))
			}
		}
	}
	return unused
}

func (r *Reasons) find(style string, d *Difference, used map[string]bool) {
	for _, one := range r.Reasons {
		if !glob(one.Style, style) || !glob(one.Operation, d.Operation) || !glob(one.Part, d.Part) || !glob(one.Kind, d.Kind) {
			continue
		}
		i := slices.IndexFunc(one.Fields, func(field string) bool { return glob(field, d.Field) })
		if i >= 0 {
			d.Reason = one.Reason
			used[one.name(one.Fields[i])] = true
			return
		}
	}
}

func (r reason) name(field string) string {
	return fmt.Sprintf("%s, %s, %s, %s: %s", r.Style, r.Operation, r.Part, r.Kind, field)
}

// glob reports whether text matches a pattern in which * matches any characters.
func glob(pattern, text string) bool {
	first, rest, ok := strings.Cut(pattern, "*")
	if !ok {
		return pattern == text
	}
	text, ok = strings.CutPrefix(text, first)
	if !ok {
		return false
	}
	for i := range len(text) + 1 {
		if glob(rest, text[i:]) {
			return true
		}
	}
	return rest == ""
}
