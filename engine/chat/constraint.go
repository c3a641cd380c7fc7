package chat

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// constrain finds which tools may be called and what the output must follow.
// Whether a client asked for strictness makes no difference: what can be
// enforced is. The plan must be closed.
func (e *Engine) constrain(ctx context.Context, p *plan) error {
	c, release, err := e.constraints.get(ctx, constraintKey(p.request, p.opening), func(ctx context.Context) (*compiled, error) {
		return e.compile(ctx, p.request, p.opening)
	})
	if err != nil {
		return err
	}
	p.tools, p.constraint, p.start.Unenforced, p.release = c.tools, c.grammar, c.unenforced, release
	return nil
}

// compiled is what the tools and the format of a request come to. It is
// shared by requests and not changed.
type compiled struct {
	tools      toolSet
	unenforced []engine.Place
	grammar    *grammar.Grammar // nil: anything goes
	size       int              // of memory, about
}

// compile reads each schema of a request once and makes one grammar of all.
func (e *Engine) compile(ctx context.Context, req *engine.Request, opening string) (*compiled, error) {
	reply, err := replyGrammar(ctx, req.Format)
	if err != nil {
		return nil, err
	}
	format := e.formatOf(req)
	var done compiled
	tools, unenforced, err := newToolSet(ctx, req.Tools)
	if err != nil {
		return nil, err
	}
	done.unenforced = unenforced
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
	root, err := c.root(ctx)
	if err != nil {
		return nil, err
	}
	if root != nil {
		if done.grammar, err = grammar.Compile(ctx, root); err != nil {
			return nil, c.wrong(req, err)
		}
		done.size = done.grammar.Size()
	}
	done.size += done.tools.bare() + 100*len(unenforced)
	for _, place := range unenforced {
		done.size += len(place.Path)
	}
	return &done, nil
}

// wrong is the error of a constraint that does not compile.
func (c *constraint) wrong(req *engine.Request, err error) error {
	var cost *grammar.CostError
	switch {
	case errors.As(err, &cost):
		return c.tooLarge(req, cost).Because(err)
	case errors.Is(err, grammar.ErrImpossible):
		return engine.Errorf(engine.CodeInvalidArgument, "Nothing can follow the format and the tools of this request.").Because(err)
	}
	return engine.AsError(err)
}

// tooLarge names the schema that costs most.
func (c *constraint) tooLarge(req *engine.Request, cost *grammar.CostError) *engine.Error {
	if c.reply != nil && cost.Most == c.reply {
		return engine.Errorf(engine.CodeInvalidArgument, "The schema of the response format is too large or too complex to enforce.").
			At(engine.Place{Field: engine.FieldFormat})
	}
	for i, t := range req.Tools {
		if made := c.tools[t.Name]; made != nil && cost.Most == made.grammar {
			return engine.Errorf(engine.CodeInvalidArgument, "The schemas of this request are together too large or too complex to enforce; most of it is the tool %s.", t.Name).
				At(engine.Place{Field: engine.FieldTools, Index: i})
		}
	}
	return engine.Errorf(engine.CodeInvalidArgument, "The schemas of this request are together too large or too complex to enforce.").
		At(engine.Place{Field: engine.FieldTools})
}

// MatchError is what a [Model] says of a request whose Job's Constraint has
// given up; see [grammar.ErrTooMuchWork].
func MatchError(req *engine.Request, err error) *engine.Error {
	place := engine.Place{Field: engine.FieldFormat}
	if req != nil && len(req.Tools) > 0 {
		place.Field = engine.FieldTools
	}
	return engine.Errorf(engine.CodeInvalidArgument,
		"The schemas of this request are too ambiguous to enforce: there are too many ways to read one text.").At(place).Because(err)
}

// replyGrammar is what the text of the answer must follow; nil: anything.
func replyGrammar(ctx context.Context, f engine.Format) (grammar.Node, error) {
	switch f.Kind {
	case engine.FormatJSON:
		return grammar.JSONObject(), nil
	case engine.FormatSchema:
	default:
		return nil, nil
	}
	node, issues, err := grammar.Schema(ctx, f.Schema)
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
		return engine.AsError(err)
	}
	place.Path = s.Pointer
	if s.Pointer == "" {
		return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used: %s", what, s.Reason).At(place).Because(err)
	}
	return engine.Errorf(engine.CodeInvalidArgument, "%s cannot be used, because of %q: %s", what, s.Pointer, s.Reason).At(place).Because(err)
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
func (c *constraint) root(ctx context.Context) (grammar.Node, error) {
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
	return c.auto(ctx)
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
