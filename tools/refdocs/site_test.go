package main

import (
	"encoding/json/v2"
	"html"
	"path"
	"regexp"
	"strings"
	"testing"
)

// maxSite is how large all pages for browsers may be together: they are in every program.
const maxSite = 3_000_000

var (
	referred = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	identity = regexp.MustCompile(` id="([^"]*)"`)
	unsafe   = regexp.MustCompile(`(?i)<style|<script>| style=| on[a-z]+="|javascript:|<script[^>]*>[^<]`)
	outside  = regexp.MustCompile(`(?:src|href)="(?:https?:)?//`)
)

// TestSite checks that pages load and link to what there is, and would pass a strict
// Content-Security-Policy.
func TestSite(t *testing.T) {
	files, size := rendered(t, own(t)), 0
	for name, text := range files {
		if !strings.HasPrefix(name, "site/") {
			continue
		}
		size += len(text)
		if path.Ext(name) != ".html" {
			continue
		}
		ids := map[string]bool{}
		for _, found := range identity.FindAllStringSubmatch(text, -1) {
			if ids[found[1]] {
				t.Errorf("%s has the id %q twice", name, found[1])
			}
			ids[found[1]] = true
		}
		if found := unsafe.FindString(text); found != "" {
			t.Errorf("%s has %q", name, found)
		}
		if strings.HasPrefix(name, "site/openai") || strings.HasPrefix(name, "site/anthropic") {
			if found := outside.FindString(text); found != "" {
				t.Errorf("%s leads elsewhere: %s", name, found)
			}
		}
		for _, found := range referred.FindAllStringSubmatch(text, -1) {
			checkLink(t, files, name, html.UnescapeString(found[1]))
		}
		for _, landmark := range []string{"<main ", "<nav ", "<header>", "<h1", `<html lang="en">`, `class="skip" href="#main"`} {
			if strings.Count(text, landmark) != 1 {
				t.Errorf("%s has %s %d times", name, landmark, strings.Count(text, landmark))
			}
		}
	}
	if size > maxSite {
		t.Errorf("all pages have %d bytes, more than %d", size, maxSite)
	}
}

func checkLink(t *testing.T, files map[string]string, name, to string) {
	t.Helper()
	file, id, _ := strings.Cut(to, "#")
	at := name
	if file != "" {
		at = path.Join(path.Dir(name), file)
	}
	if at == "." || at == "reference" || strings.Contains(to, "://") { // the page of the server, and other sites
		return
	}
	if target, ok := files[at]; !ok || id != "" && !strings.Contains(target, ` id="`+id+`"`) {
		t.Errorf("%s leads to %s, which is not there", name, to)
	}
}

// TestSearchIndex checks that what the search finds is there, and that it finds each
// operation and each field.
func TestSearchIndex(t *testing.T) {
	files := rendered(t, own(t))
	var entries [][4]string
	if err := json.Unmarshal([]byte(files["site/search.json"]), &entries); err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	for _, e := range entries {
		titles[e[0]] = true
		checkLink(t, files, "site/index.html", e[1])
	}
	documents := own(t)
	for _, o := range append(documents.OpenAI.Operations(), documents.Anthropic.Operations()...) {
		if !titles[o.Method+" "+o.Path] {
			t.Errorf("the search does not find %s %s", o.Method, o.Path)
		}
		for _, row := range o.Matrix() {
			if row.Part == "body" && !titles[row.Field] {
				t.Errorf("the search does not find %s of %s", row.Field, o.ID)
			}
		}
	}
}
