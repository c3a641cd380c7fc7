// Refdocs writes the reference from the documents, the recordings and the pages of clients:
// as Markdown into FOLDER/reference, and as the site that every server has at /docs into
// FOLDER/site. Pages that other tools write into FOLDER/reference are taken into the site.
//
//	go run ./tools/refdocs FOLDER
package main

//go:generate go run . ../../gen

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/tools/refdocs/client"
	"github.com/diglot/diglot/tools/refdocs/example"
	"github.com/diglot/diglot/tools/refdocs/markdown"
	"github.com/diglot/diglot/tools/refdocs/reference"
	"github.com/diglot/diglot/tools/refdocs/site"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: refdocs FOLDER") }
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "refdocs:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	documents, err := openapi.Embedded()
	if err != nil {
		return err
	}
	from, err := readSources(filepath.Join(folder, "reference"))
	if err != nil {
		return err
	}
	files, err := render(documents, from)
	if err != nil {
		return err
	}
	return write(folder, files)
}

// sources are what the pages show beside the documents.
type sources struct {
	examples map[string][]example.Example
	clients  []client.Client
	others   []other
}

func readSources(folder string) (s sources, err error) {
	if s.examples, err = example.Of(); err != nil {
		return s, err
	}
	if s.clients, err = client.All(); err != nil {
		return s, err
	}
	s.others, err = readOthers(folder)
	return s, err
}

// other is a page that another tool writes.
type other struct {
	markdown.Other
	text []byte
}

// otherPages are the pages of other tools, in the order of the index. One that is not
// there is left out.
var otherPages = []markdown.Other{
	{File: "commands.md", Title: "Commands, flags and environment"},
	{File: "vendor.md", Title: "Differences from the vendors' documents"},
	{File: "peers.md", Title: "Scores of other servers"},
	{File: "peers-llama-server.md", Title: "Failures of llama-server"},
	{File: "peers-ollama.md", Title: "Failures of Ollama"},
	{File: "diff.md", Title: "Replies of other servers, compared"},
	{File: "drift.md", Title: "What the vendors' newest SDKs name"},
}

func readOthers(folder string) ([]other, error) {
	var all []other
	for _, page := range otherPages {
		text, err := os.ReadFile(filepath.Join(folder, page.File))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, other{page, text})
	}
	return all, nil
}

// render returns all files by their paths in the folder.
func render(documents openapi.Documents, from sources) (map[string][]byte, error) {
	styles, err := reference.Of(documents)
	if err != nil {
		return nil, err
	}
	var names []markdown.Other
	for _, o := range from.others {
		names = append(names, o.Other)
	}
	pages, err := markdown.Pages(styles, from.examples, from.clients, names)
	if err != nil {
		return nil, err
	}
	contents := site.Contents{Styles: styles, Examples: from.examples, Clients: from.clients}
	for _, o := range from.others {
		contents.Others = append(contents.Others, site.Other{File: o.File, Title: o.Title, Text: o.text})
	}
	html, err := site.Pages(contents)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, text := range pages {
		files["reference/"+name] = text
	}
	for name, text := range html {
		files["site/"+name] = text
	}
	return files, nil
}

// write writes the files, and removes what an earlier run left in the folders of
// generated pages.
func write(folder string, files map[string][]byte) error {
	for _, own := range []string{"reference/openai", "reference/anthropic", "reference/support", "reference/clients", "site"} {
		if err := os.RemoveAll(filepath.Join(folder, filepath.FromSlash(own))); err != nil {
			return err
		}
	}
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
