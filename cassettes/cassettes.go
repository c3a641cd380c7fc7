// Package cassettes holds what the vendors' SDKs sent to diglot and what it
// answered, case by case, with a sentence on each ([Cases]).
//
// The recordings are made by tools/sdk through a proxy, over the model in
// script.yaml, while each SDK suite also asserts what its SDK made of the
// reply. Here every recorded request is sent to the handlers again, in
// process, on every test run. What a document can state is checked against
// the document; a recording adds that the reply is still the same, and that
// the request is what a real client sends.
//
// To record anew after a wanted change: make record, and read the diff.
package cassettes

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed script.yaml openai anthropic
var files embed.FS

// Script is the script that the recordings were made over.
func Script() []byte {
	text, err := files.ReadFile("script.yaml")
	if err != nil {
		panic(err) // it is part of the program
	}
	return text
}

// Cassette is one recorded case of one SDK.
type Cassette struct {
	Name         string // style/operation/case-sdk, as the file is named
	Interactions []Interaction
}

// Interaction is one request and its reply, in the format of go-vcr.
type Interaction struct {
	Request struct {
		Method  string
		URL     string // path and query, as they were sent
		Headers map[string][]string
		Body    string
	}
	Response struct {
		Code    int
		Headers map[string][]string
		Body    string
	}
}

// Case says which case this is a recording of, and of which SDK.
func (c Cassette) Case() (name, sdk string) {
	i := strings.LastIndexByte(c.Name, '-')
	return c.Name[:i], c.Name[i+1:]
}

// Load reads all cassettes, in the order of their names.
func Load() ([]Cassette, error) {
	var all []Cassette
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "script.yaml" {
			return err
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		c := Cassette{Name: strings.TrimSuffix(name, path.Ext(name))}
		if err := yaml.Unmarshal(text, &c); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, c)
		return nil
	})
	return all, err
}
