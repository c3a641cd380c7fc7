package format

import "github.com/diglot/diglot/engine"

// Parser parses the raw output of a model, token by token, into the events of one
// choice: text, reasoning and tool calls.
type Parser struct {
	scanner *scanner
	writer  *writer
}

// Options are the parts of a request that a Parser needs.
type Options struct {
	Choice   int             // index of the choice
	Tools    Tools           // that may be called; none: call markup is plain text
	Opening  string          // the part of the answer that the prompt already holds
	Stops    []string        // stop strings
	Logprobs bool            // whether events carry log probabilities
	IDs      map[string]bool // call ids in the conversation; new ones are added
	NewID    func() string   // makes an id for a call without one
}

// NewParser returns a Parser of one choice.
func NewParser(format *Format, o Options) *Parser {
	w := &writer{choice: o.Choice, stops: o.Stops, ids: o.IDs, newID: o.NewID,
		holdSpace: len(o.Tools) > 0 || format.Open != "", tokens: tokenLedger{report: o.Logprobs}}
	return &Parser{scanner: newScanner(format, o.Tools, o.Opening, w), writer: w}
}

// Echo emits the prompt as the start of the answer.
func (p *Parser) Echo(text string, tokens []engine.TokenLogprob) { p.writer.echo(text, tokens) }

// Read parses the next token of the output.
func (p *Parser) Read(t engine.TokenLogprob) {
	p.writer.tokens.add(t)
	p.scanner.write(t.Token)
}

// Done reports whether the answer has ended, at a stop string for instance.
func (p *Parser) Done() bool { return p.scanner.done() }

// Finish ends the output with the reason that the model gave.
func (p *Parser) Finish(reason engine.FinishReason) {
	p.scanner.finish(reason)
	p.writer.finish(reason)
}

// Events returns the events since the last call.
func (p *Parser) Events() []engine.Event { return p.writer.take() }

// ReasoningTokens is the number of reasoning tokens.
func (p *Parser) ReasoningTokens() int { return p.writer.tokens.reasoned }

func newScanner(format *Format, tools Tools, opening string, out *writer) *scanner {
	s := &scanner{format: format, tools: tools, out: out, fresh: true, step: (*scanner).prose}
	s.inText, s.inReasoning = delimitersOf(format, len(tools) > 0)
	if format.channels {
		s.openChannel(opening)
	}
	if format.opensReasoning(opening) {
		s.kind, s.skipSpace = proseReasoning, true
	}
	return s
}
