package format

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// constraint builds the grammar of a whole output.
type constraint struct {
	format   *Format
	tools    Tools
	reply    grammar.Node // nil: free text
	required bool
	single   bool
	opening  string
	thinks   bool // the model may start reasoning
}

// openers returns the delimiters that the scanner takes for the start of a call,
// and whether a call may start without one. Free text may not contain them.
func (c *constraint) openers() (marks []string, bare bool) {
	for i := range c.format.Calls {
		s := &c.format.Calls[i]
		switch {
		case s.parseOnly:
			continue
		case s.bare:
			bare = true
			continue
		case s.optionalSection:
			marks = append(marks, s.open)
		}
		marks = append(marks, s.opener())
	}
	return marks, bare
}

// auto is free text and optional calls. Text is free up to the opening delimiter
// of a call, so matching it only searches for that.
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

// notBare is text that does not begin a bare call: an object whose first field is
// "name".
const notBare = `^\s*([^{\s]|\{\s*([^"\s]|"([^n]|n[^a]|na[^m]|nam[^e]|name[^"])))`

// reasoned is a reply or calls, if not nil, after optional reasoning.
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
		return c.afterReasoning(reply, calls)
	case c.thinks:
		opened := grammar.Seq(grammar.Whitespace(), grammar.Literal(f.Open), c.afterReasoning(reply, calls))
		return grammar.Choice(append(direct, opened)...)
	}
	return grammar.Choice(direct...)
}

// afterReasoning is the rest of open reasoning and what follows it. A call with a
// delimiter also ends reasoning, since many models omit the closing one.
func (c *constraint) afterReasoning(reply, calls grammar.Node) grammar.Node {
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

// calls is one call or, if the request allows it, several, in any syntax of the
// format: the model uses the one that it was trained on.
func (c *constraint) calls() grammar.Node {
	var ways []grammar.Node
	for i := range c.format.Calls {
		if s := &c.format.Calls[i]; !s.parseOnly {
			ways = append(ways, c.callsAs(s))
		}
	}
	return grammar.Choice(ways...)
}

func (c *constraint) callsAs(s *callSyntax) grammar.Node {
	var each []grammar.Node
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		each = append(each, s.parser.grammar(c.tools[name]))
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
	if s.array {
		open, end = open+"[", "]"+end
	}
	if s.optionalSection {
		return grammar.Seq(grammar.Optional(grammar.Literal(open)), run, grammar.Optional(grammar.Literal(end)))
	}
	return grammar.Seq(grammar.Literal(open), run, grammar.Literal(end))
}
