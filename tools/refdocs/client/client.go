// Package client has one page for each program that is often used with diglot: the
// settings that make it work, and what of them was run against the server.
//
// The pages are written by hand. Code that is marked with a language of the examples runs in
// the suite "examples" of tools/sdk, like that of all pages; a word after the language
// names the installation that it needs, or the file that it is written to. What agents print
// is up to the model, so for them only the exit status counts.
package client

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

// Client is the page of one program.
type Client struct {
	Name  string // of the file, without its ending
	Title string
	Text  string // Markdown
}

//go:embed pages/*.md
var pages embed.FS

// All returns the pages by title.
func All() ([]Client, error) {
	files, err := pages.ReadDir("pages")
	if err != nil {
		return nil, err
	}
	var all []Client
	for _, file := range files {
		text, err := pages.ReadFile("pages/" + file.Name())
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(first, "# ")
		if !ok {
			return nil, fmt.Errorf("%s does not begin with a heading", file.Name())
		}
		all = append(all, Client{Name: strings.TrimSuffix(file.Name(), path.Ext(file.Name())), Title: title, Text: string(text)})
	}
	return all, nil
}
