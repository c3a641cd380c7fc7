package site

import (
	"bytes"
	"encoding/json/v2"
	"regexp"
	"strings"

	"github.com/diglot/diglot/tools/refdocs/reference"
)

// entry is what the search finds: a title, where it leads, where that is, and further words.
type entry [4]string

// searchIndex lists everything that has a place on a page.
func searchIndex(c Contents) ([]byte, error) {
	entries := []entry{{"What is supported", "support.html", "Reference", ""}, {"Errors", "errors.html", "Reference", ""}}
	for _, s := range c.Styles {
		for _, o := range s.Operations {
			entries = append(entries, operationEntries(s, o)...)
		}
		for _, e := range s.Errors() {
			entries = append(entries, entry{e.Name, "errors.html#" + s.Name, "Errors, " + s.Title, short(e.Code + " " + e.Type + " " + e.When)})
		}
	}
	for _, one := range c.Clients {
		entries = append(entries, entry{one.Title, "clients/" + one.Name + ".html", "Clients", ""})
	}
	for _, other := range c.Others {
		file := strings.TrimSuffix(other.File, ".md") + ".html"
		entries = append(entries, entry{other.Title, file, "Reference", ""})
		content, err := fromMarkdown(other.File, other.Text)
		if err != nil {
			return nil, err
		}
		for _, found := range heading.FindAllStringSubmatch(content, -1) {
			entries = append(entries, entry{tag.ReplaceAllString(found[2], ""), file + "#" + found[1], other.Title, ""})
		}
	}
	return lines(entries)
}

var (
	heading = regexp.MustCompile(`<h[23] id="([^"]+)">(.*?)</h[23]>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
)

func operationEntries(s reference.Style, o reference.Operation) []entry {
	page, name := s.Name+"/"+o.ID+".html", o.Method+" "+o.Path
	entries := []entry{{name, page, s.Title, short(o.Summary + " " + o.ID)}}
	var add func(where string, fields []*reference.Field)
	add = func(where string, fields []*reference.Field) {
		for _, f := range fields {
			entries = append(entries, entry{f.Field, page + "#" + f.Anchor, name + ", " + where, short(f.Description)})
			add(where, f.Fields)
		}
	}
	add("parameters", o.Parameters)
	add("request", o.Body)
	for _, r := range o.Replies {
		add("reply", r.Fields)
		for _, e := range r.Events {
			entries = append(entries, entry{e.Name, page + "#" + e.Anchor, name + ", events", short(e.Description)})
			add("event "+e.Name, e.Fields)
		}
	}
	for _, h := range o.Headers {
		entries = append(entries, entry{h.Name, page + "#headers", name + ", headers", short(h.Description)})
	}
	return entries
}

// short cuts a text after a word.
func short(text string) string {
	const most = 90
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return text[:max(0, strings.LastIndexByte(text[:most], ' '))]
}

// lines writes an entry a line, so that a change of one is a change of one line.
func lines(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	for i, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		b.WriteString(map[bool]string{true: "[", false: ",\n"}[i == 0])
		b.Write(text)
	}
	b.WriteString("]\n")
	return b.Bytes(), nil
}
