package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// example is a piece of code on a page.
type example struct {
	page, title string
	line        int
	language    string // bash, python, typescript, go
	needs       string // an installation; empty: that of the vendors' SDKs
	code        string
	prints      string            // what it should print; "" if reply is set
	reply       string            // what curl should get
	files       map[string]string // to write into the home first, by path
	recorded    bool              // its requests are recorded ones
}

func (e example) name() string {
	return fmt.Sprintf("%s:%d %s: %s", e.page, e.line, e.title, e.language)
}

// languages are those of code that runs; shown are those of blocks that are shown only. The
// pages of commands and of other tools have blocks of no language.
var (
	languages = []string{"bash", "python", "typescript", "go"}
	shown     = []string{"", "console", "json", "yaml", "toml", "text"}
)

// readPages returns the code of all pages in a folder.
func readPages(folder string) ([]example, error) {
	var all []example
	root := os.DirFS(folder)
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".md" {
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		of, err := readPage(name, string(text))
		all = append(all, of...)
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("the pages in %s have no code", folder)
	}
	return all, err
}

var fence = regexp.MustCompile("(?ms)^```([^\\n`]*)\\n(.*?)^```$")

var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// readPage reads the code of a page. What comes after code says what it does.
func readPage(name, text string) ([]example, error) {
	var all, waiting []example
	files := map[string]string{}
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		info, body := text[at[2]:at[3]], text[at[4]:at[5]]
		language, word, _ := strings.Cut(info, " ")
		line := 1 + strings.Count(text[:at[0]], "\n")
		switch {
		case slices.Contains(languages, language):
			waiting = append(waiting, example{page: name, title: titleBefore(text[:at[0]]), line: line, language: language, needs: word, code: body, files: files})
		case !slices.Contains(shown, language):
			return nil, fmt.Errorf("%s:%d: a block of %q is neither run nor among those that are only shown", name, line, info)
		case word == "reply":
			for i, e := range waiting {
				if e.prints == "" {
					waiting[i].reply = body
				}
			}
			all, waiting = append(all, waiting...), nil
		case language == "text":
			for i, e := range waiting {
				if !strings.HasPrefix(e.code, "curl ") {
					waiting[i].prints = body
				}
			}
			if strings.HasPrefix(name, "clients/") {
				all, waiting = append(all, waiting...), nil
			}
		case strings.HasPrefix(word, "~/"):
			files[strings.TrimPrefix(word, "~/")] = body
		}
	}
	if len(waiting) > 0 {
		return nil, fmt.Errorf("%s: nothing says what the code in line %d does", name, waiting[0].line)
	}
	for i := range all {
		all[i].recorded = !strings.HasPrefix(name, "clients/")
	}
	return all, nil
}

func titleBefore(text string) string {
	found := heading.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1][1]
}
