package format

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// constraint makes the grammar of a whole output.
type constraint struct {
	format   *Format
	tools    Tools
	reply    grammar.Node // nil: free text
	required bool
	single   bool
	opening  string
	thinks   bool // the model may open reasoning by itself
}

// openers are the marks that a call may begin with, and whether one may begin
// without any. They are those that the scanner knows: what it reads as a call
// has to be one.
func (c *constraint) openers() (marks []string, bare bool) {
	for i := range c.format.Calls {
		s := &c.format.Calls[i]
		switch {
		case s.unasked:
			continue
		case s.bare:
			bare = true
			continue
		case s.loose:
			marks = append(marks, s.open)
		}
		marks = append(marks, s.opener())
	}
	return marks, bare
}

// auto is free text, and then perhaps calls. Text is free up to a call's
// first mark, so all that it costs is to look for that.
func (c *constraint) auto(ctx context.Context) (grammar.Node, error) {
	openers, bare := c.openers()
	text := grammar.Until(openers...)
	most := -1
	if c.single {
		most = 1
	}
	if !bare {
		return grammar.Seq(text, grammar.Repeat(grammar.Seq(c.calls(), text), 0, most)), nil
	}
	text, err := grammar.Pattern(ctx, notBare)
	if err != nil {
		return nil, engine.AsError(err)
	}
	return grammar.Choice(c.calls(), text, grammar.Literal("")), nil
}

// notBare is text that is not the beginning of a call without marks: it does
// not begin with an object whose first member is "name".
const notBare = `^\s*([^{\s]|\{\s*([^"\s]|"([^n]|n[^a]|na[^m]|nam[^e]|name[^"])))`

// reasoned is a reply or calls, whichever are not nil, and the reasoning that
// may come before them.
func (c *constraint) reasoned(reply, calls grammar.Node) grammar.Node {
	var direct []grammar.Node
	if reply != nil {
		direct = append(direct, reply)
	}
	if calls != nil {
		calls = grammar.Seq(calls, grammar.Whitespace())
		direct = append(direct, calls)
	}
	f := c.format
	switch {
	case f.opensReasoning(c.opening):
		return c.behindReasoning(reply, calls)
	case c.thinks:
		opened := grammar.Seq(grammar.Whitespace(), grammar.Literal(f.Open), c.behindReasoning(reply, calls))
		return grammar.Choice(append(direct, opened)...)
	}
	return grammar.Choice(direct...)
}

// behindReasoning is the rest of open reasoning, and what follows it. A call
// with a mark ends reasoning by itself, as it does with many models.
func (c *constraint) behindReasoning(reply, calls grammar.Node) grammar.Node {
	end := grammar.Seq(grammar.Literal(c.format.Close), grammar.Whitespace())
	var ways []grammar.Node
	if reply != nil {
		ways = append(ways, grammar.Seq(end, reply))
	}
	stops := []string{c.format.Close}
	if calls != nil {
		marks, bare := c.openers()
		stops = append(stops, marks...)
		if !bare {
			end = grammar.Optional(end)
		}
		ways = append(ways, grammar.Seq(end, calls))
	}
	return grammar.Seq(grammar.Until(stops...), grammar.Choice(ways...))
}

// calls is one call or, where the request allows it, several, in any of the
// ways that the format knows: the model takes the one that it was taught.
func (c *constraint) calls() grammar.Node {
	var ways []grammar.Node
	for i := range c.format.Calls {
		if s := &c.format.Calls[i]; !s.unasked {
			ways = append(ways, c.callsAs(s))
		}
	}
	return grammar.Choice(ways...)
}

func (c *constraint) callsAs(s *callSyntax) grammar.Node {
	var each []grammar.Node
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		each = append(each, s.reader.grammar(c.tools[name]))
	}
	pad := grammar.Literal("")
	if s.pad != "" {
		pad = grammar.Whitespace()
	}
	one := grammar.Seq(
		grammar.Literal(s.open), pad,
		grammar.Choice(each...),
		pad, grammar.Literal(strings.Join(s.ends, "")))
	separator := grammar.Literal(s.separator)
	if s.separator != "" && strings.TrimSpace(s.separator) == "" {
		separator = grammar.Whitespace()
	}
	run := one
	if !c.single {
		run = grammar.Seq(one, grammar.Repeat(grammar.Seq(separator, one), 0, -1))
	}
	open, end := s.section, s.sectionEnd
	if s.list {
		open, end = open+"[", "]"+end
	}
	if s.loose {
		return grammar.Seq(grammar.Optional(grammar.Literal(open)), run, grammar.Optional(grammar.Literal(end)))
	}
	return grammar.Seq(grammar.Literal(open), run, grammar.Literal(end))
}
