// Package cassettes has recordings of the vendors' SDKs talking to diglot, case by
// case ([Cases]).
//
// tools/sdk records them through a proxy, over the model in script.yaml, while each SDK
// suite asserts what its SDK made of the reply. The tests here replay every recorded
// request against the handlers, in process. The document checks what it can state; a
// recording adds that the reply is unchanged, and that the request is a real client's.
//
// After an intended change: make record, and review the diff.
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

// Script returns the script of the recordings.
func Script() []byte {
	text, err := files.ReadFile("script.yaml")
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// Cassette is one recorded case of one SDK.
type Cassette struct {
	Name         string // style/operation/case-sdk, like the file
	Interactions []Interaction
}

// Interaction is one request and its reply, in the format of go-vcr.
type Interaction struct {
	Request struct {
		Method  string
		URL     string // path and query, as sent
		Headers map[string][]string
		Body    string
	}
	Response struct {
		Code    int
		Headers map[string][]string
		Body    string
	}
}

// Case returns the case and the SDK of the recording.
func (c Cassette) Case() (name, sdk string) {
	i := strings.LastIndexByte(c.Name, '-')
	return c.Name[:i], c.Name[i+1:]
}

// Load reads all cassettes, in order of their names.
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
