// Speclint checks rules for the OpenAPI documents beyond validity, on which the generated
// types, the checks, the matrix and the reference rely. It prints FILE:LINE: MESSAGE and
// fails if it finds anything.
//
//	go run ./tools/speclint [FILE...]
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/diglot/diglot/openapi"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: speclint [FILE...]") }
	flag.Parse()
	files := flag.Args()
	if len(files) == 0 {
		files = []string{"openapi/openai.yaml", "openapi/anthropic.yaml"}
	}
	failed := false
	for _, name := range files {
		messages, err := lintFile(name)
		if err != nil {
			messages = append(messages, fmt.Sprintf("%s: %v", name, err))
		}
		for _, message := range messages {
			fmt.Fprintln(os.Stderr, message)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// lintFile returns the messages about one file. A file without findings must also load, in
// both profiles.
func lintFile(name string) ([]string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	found, err := lint(text)
	if err != nil {
		return nil, err
	}
	var messages []string
	for _, f := range found {
		messages = append(messages, fmt.Sprintf("%s:%d: %s", name, f.line, f.text))
	}
	if len(messages) == 0 {
		err = load(text)
	}
	return messages, err
}

func load(text []byte) error {
	document, err := openapi.Load(text)
	if err == nil {
		_, err = document.Narrow(openapi.ProfileDocument)
	}
	return err
}
