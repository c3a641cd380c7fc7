package handlerstest

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed vendor_exceptions.yaml
var exceptionsFile []byte

// exception is an intended difference from a vendor's schema. A star matches any route, or
// any one token of a pointer.
type exception struct {
	Style  string `yaml:"style"` // openai or anthropic
	Route  string `yaml:"route"` // POST /v1/messages
	Part   string `yaml:"part"`  // reply, event or error
	At     string `yaml:"at"`    // JSON pointer into the value
	Rule   string `yaml:"rule"`  // keyword of JSON Schema
	Reason string `yaml:"reason"`
}

// readExceptions reads the list.
func readExceptions() ([]exception, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(exceptionsFile))
	decoder.KnownFields(true)
	var all []exception
	if err := decoder.Decode(&all); err != nil {
		return nil, fmt.Errorf("vendor_exceptions.yaml: %w", err)
	}
	seen := map[string]bool{}
	for _, e := range all {
		if len(strings.Fields(e.Reason)) < 3 {
			return nil, fmt.Errorf("vendor_exceptions.yaml: %v has no reason", e)
		}
		if seen[e.String()] {
			return nil, fmt.Errorf("vendor_exceptions.yaml: %v appears twice", e)
		}
		seen[e.String()] = true
	}
	return all, nil
}

// String names the exception without its reason.
func (e exception) String() string {
	return fmt.Sprintf("%s, %s, %s: %s %s", e.Style, e.Route, e.Part, e.At, e.Rule)
}

func (e exception) covers(at place, v vendorViolation) bool {
	if e.Style != at.style || e.Part != string(at.part) || e.Rule != v.rule || e.Route != "*" && e.Route != at.route {
		return false
	}
	tokens := strings.Split(strings.TrimPrefix(e.At, "/"), "/")
	if len(tokens) != len(v.at) {
		return false
	}
	for i, token := range tokens {
		if token != "*" && token != v.at[i] {
			return false
		}
	}
	return true
}
