package site

import (
	"bytes"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// Tables get no inline styles, which the Content-Security-Policy forbids.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()), // the pages are ours, and have anchors
)

// fromMarkdown writes a Markdown page of the reference, with links to the pages of the site.
func fromMarkdown(name string, source []byte) (string, error) {
	if _, rest, ok := bytes.Cut(source, []byte("-->\n")); ok && bytes.HasPrefix(source, []byte("<!--")) {
		source = rest
	}
	tree := markdown.Parser().Parse(text.NewReader(source))
	var outside []*ast.Link
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			to, ok := siteLink(name, string(link.Destination))
			if !ok {
				outside = append(outside, link)
			}
			link.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return "", err
	}
	for _, link := range outside {
		unwrap(link)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, tree); err != nil {
		return "", err
	}
	return strings.NewReplacer(
		"<pre>", `<pre tabindex="0">`,
		"<table>", `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>`, "</table>", "</table></div>",
	).Replace(b.String()), nil
}

// siteLink translates a link between Markdown pages; ok is false if it leads out of the
// reference.
func siteLink(from, to string) (string, bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") {
		return to, true
	}
	file, anchor, hasAnchor := strings.Cut(to, "#")
	if path.Ext(file) != ".md" || strings.HasPrefix(path.Join(path.Dir(from), file), "..") {
		return "", false
	}
	folder, base := path.Split(file)
	if strings.HasSuffix(folder, "support/") {
		return strings.TrimSuffix(folder, "support/") + "support.html#" + strings.TrimSuffix(base, ".md"), true
	}
	if base == "README.md" {
		base = "index.md"
	}
	to = folder + strings.TrimSuffix(base, ".md") + ".html"
	if hasAnchor {
		to += "#" + anchor
	}
	return to, true
}

// unwrap leaves of a link its text.
func unwrap(link *ast.Link) {
	parent := link.Parent()
	for child := link.FirstChild(); child != nil; {
		next := child.NextSibling()
		parent.InsertBefore(parent, link, child)
		child = next
	}
	parent.RemoveChild(parent, link)
}
