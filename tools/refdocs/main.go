// Refdocs writes the support matrix and one reference page per style from the documents.
//
//	go run ./tools/refdocs FOLDER
package main

//go:generate go run . ../../gen/reference

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/diglot/diglot/openapi"
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
	files, err := render()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// render returns all pages by file name.
func render() (map[string][]byte, error) {
	own, err := openapi.Embedded()
	if err != nil {
		return nil, err
	}
	return renderOf(own)
}

// renderOf renders the pages of other documents.
func renderOf(documents openapi.Documents) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, file := range []struct {
		name, template string
		data           any
	}{
		{"support.md", "support.md.tmpl", []document{view(documents.OpenAI), view(documents.Anthropic)}},
		{"openai.md", "reference.md.tmpl", view(documents.OpenAI)},
		{"anthropic.md", "reference.md.tmpl", view(documents.Anthropic)},
	} {
		var b bytes.Buffer
		if err := pages.ExecuteTemplate(&b, file.template, file.data); err != nil {
			return nil, err
		}
		files[file.name] = b.Bytes()
	}
	return files, nil
}
