package chat

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/grammar"
)

// constrain finds which tools may be called and what the output must follow.
// Whether a client asked for strictness makes no difference: what can be
// enforced is.
func (e *Engine) constrain(p *plan) error {
	c, err := e.constraints.get(constraintKey(p.request, p.opening), func() (*compiled, error) {
		return e.compile(p.request, p.opening)
	})
	if err != nil {
		return err
	}
	p.tools, p.constraint, p.start.Unenforced = c.tools, c.grammar, c.unenforced
	return nil
}

// compiled is what the tools and the format of a request come to. It is
// shared by requests and not changed.
type compiled struct {
	tools      toolSet
	unenforced []engine.Place
	grammar    *grammar.Grammar // nil: anything goes
}

func (e *Engine) compile(req *engine.Request, opening string) (*compiled, error) {
	reply, err := replyGrammar(req.Format)
	if err != nil {
		return nil, err
	}
	format := e.formatOf(req)
	var done compiled
	tools := newToolSet(req.Tools)
	if done.unenforced, err = tools.compile(req.Tools); err != nil {
		return nil, err
	}
	if req.ToolChoice.Mode != engine.ToolNone && format.calls() {
		done.tools = tools.only(req.ToolChoice.Names)
	}
	c := &constraint{
		format:   format,
		tools:    done.tools,
		reply:    reply,
		required: req.ToolChoice.Mode == engine.ToolRequired,
		single:   req.ToolChoice.Single,
		opening:  opening,
		thinks:   format.Open != "" && req.Reasoning.Mode != engine.ReasoningOff && e.thinks,
	}
	root, err := c.root()
	if err != nil || root == nil {
		return &done, err
	}
	done.grammar, err = grammar.Compile(root)
	switch {
	case errors.Is(err, grammar.ErrTooLarge):
		return nil, engine.Errorf(engine.CodeInvalidArgument, "The schemas of this request are together too large to enforce.").
			At(engine.Place{Field: engine.FieldTools}).Because(err)
	case err != nil:
		return nil, engine.Errorf(engine.CodeInvalidArgument, "Nothing can follow the format and the tools of this request.").Because(err)
	}
	return &done, nil
}

// replyGrammar is what the text of the answer must follow; nil: anything.
func replyGrammar(f engine.Format) (grammar.Node, error) {
	switch f.Kind {
	case engine.FormatJSON:
		return grammar.JSONObject(), nil
	case engine.FormatSchema:
	default:
		return nil, nil
	}
	node, issues, err := grammar.Schema(f.Schema)
	place := engine.Place{Field: engine.FieldFormat}
	if err != nil {
		return nil, schemaError("The schema of the response format", place, err)
	}
	if len(issues) > 0 {
		place.Path = issues[0].Pointer
		return nil, engine.Errorf(engine.CodeUnsupported,
			"The schema of the response format uses the keyword %q at %q, which cannot be enforced.",
			issues[0].Keyword, issues[0].Pointer).At(place)
	}
	return node, nil
}

func schemaError(what string, place engine.Place, err error) error {
	var s *grammar.SchemaError
	if !errors.As(err, &s) {
		return engine.Errorf(engine.CodeInternal, "Internal error.").Because(err)
	}
	place.Path = s.Pointer
	if s.Pointer == "" {
		return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used: %s", what, s.Reason).At(place)
	}
	return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used, because of %q: %s", what, s.Pointer, s.Reason).At(place)
}

// compile reads the schemas of the tools and returns what in them cannot be
// enforced.
func (t toolSet) compile(tools []engine.Tool) ([]engine.Place, error) {
	var loose []engine.Place
	for i, tool := range tools {
		place := engine.Place{Field: engine.FieldTools, Index: i}
		if len(tool.Parameters) == 0 {
			t[tool.Name].grammar = grammar.Literal("{}")
			continue
		}
		node, issues, err := grammar.Schema(tool.Parameters)
		if err != nil {
			return nil, schemaError("The schema of the tool "+tool.Name, place, err)
		}
		for _, issue := range issues {
			place.Path = issue.Pointer + "/" + issue.Keyword
			loose = append(loose, place)
		}
		t[tool.Name].grammar = node
	}
	return loose, nil
}

// only narrows the set to the named tools; no names: all.
func (t toolSet) only(names []string) toolSet {
	if len(names) == 0 {
		return t
	}
	named := make(toolSet, len(names))
	for _, name := range names {
		named[name] = t[name] // check has found it
	}
	return named
}

// constraint makes the grammar of a whole output.
type constraint struct {
	format   *Format
	tools    toolSet
	reply    grammar.Node // nil: free text
	required bool
	single   bool
	opening  string
	thinks   bool // the model may open reasoning by itself
}

// root is the grammar of the output; nil: anything goes. Reasoning is never
// constrained, but it may not hide a call that is not one.
func (c *constraint) root() (grammar.Node, error) {
	switch {
	case c.format.channels && (c.reply != nil || len(c.tools) > 0):
		return c.channels(), nil
	case len(c.tools) == 0 && c.reply == nil:
		return nil, nil
	case len(c.tools) == 0:
		return c.reasoned(c.reply, nil), nil
	case c.required:
		return c.reasoned(nil, c.calls()), nil
	case c.reply != nil:
		return c.reasoned(c.reply, c.calls()), nil
	}
	return c.auto()
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
func (c *constraint) auto() (grammar.Node, error) {
	openers, bare := c.openers()
	text := grammar.Until(openers...)
	most := -1
	if c.single {
		most = 1
	}
	if !bare {
		return grammar.Seq(text, grammar.Repeat(grammar.Seq(c.calls(), text), 0, most)), nil
	}
	text, err := grammar.Pattern(notBare)
	if err != nil {
		return nil, engine.AsError(err)
	}
	return grammar.Choice(c.calls(), text, grammar.Literal("")), nil
}

// notBare is text that is not the beginning of a call without marks: it does
// not begin with an object whose first member is "name".
const notBare = `^\s*([^{\s]|\{\s*([^"\s]|"([^n]|n[^a]|na[^m]|nam[^e]|name[^"])))`

func optional(n grammar.Node) grammar.Node { return grammar.Repeat(n, 0, 1) }

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
			end = optional(end)
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
		return grammar.Seq(optional(grammar.Literal(open)), run, optional(grammar.Literal(end)))
	}
	return grammar.Seq(grammar.Literal(open), run, grammar.Literal(end))
}
