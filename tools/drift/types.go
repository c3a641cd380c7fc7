package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"slices"

	"gopkg.in/yaml.v3"
)

// part is one part of an operation, and the types that the SDKs have for it.
type part struct {
	Style  string `yaml:"style"`
	Route  string `yaml:"route"` // method and path, or everyRoute
	Part   string `yaml:"part"`  // body, query, reply, event or error
	Member string `yaml:"member"`
	Python string `yaml:"python"`
	Node   string `yaml:"node"`
}

const everyRoute = "*"

//go:embed requests.yaml
var requests []byte

// repliesFile lists the types of replies and events for the tests of recordings.
const repliesFile = "tools/sdk/testdata/types.yaml"

// readParts returns the parts of all operations. What requests.yaml has is not read
// from the other list.
func readParts() ([]part, error) {
	replies, err := os.ReadFile(repliesFile)
	if err != nil {
		return nil, err
	}
	parts, err := parseParts(requests)
	if err != nil {
		return nil, fmt.Errorf("requests.yaml: %w", err)
	}
	others, err := parseParts(replies)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", repliesFile, err)
	}
	for _, o := range others {
		if !slices.ContainsFunc(parts, o.same) {
			parts = append(parts, o)
		}
	}
	return parts, nil
}

func parseParts(text []byte) ([]part, error) {
	var parts []part
	return parts, yaml.NewDecoder(bytes.NewReader(text)).Decode(&parts)
}

func (p part) same(o part) bool { return p.Style == o.Style && p.Route == o.Route && p.Part == o.Part }
