package format

import "github.com/diglot/diglot/engine"

// Reader reads the raw output of a model, token by token, and makes the events
// of one choice of it: text, reasoning and tool calls.
type Reader struct {
	scanner *scanner
	writer  *writer
}

// Options are what a Reader has to know of the request.
type Options struct {
	Choice   int             // the number of the choice, for its events
	Tools    Tools           // that may be called; none: call markup is plain text
	Opening  string          // what the prompt already holds of the answer
	Stops    []string        // strings that end the text of the answer
	Logprobs bool            // the log probabilities of tokens are wanted
	IDs      map[string]bool // of the calls in the conversation; those of new calls are added
	NewID    func() string   // makes the id of a call to which the model gave none
}

// NewReader makes a Reader of one answer in a format.
func NewReader(format *Format, o Options) *Reader {
	w := &writer{choice: o.Choice, stops: o.Stops, ids: o.IDs, newID: o.NewID,
		holdSpace: len(o.Tools) > 0 || format.Open != "", tokens: tokenLedger{report: o.Logprobs}}
	return &Reader{scanner: newScanner(format, o.Tools, o.Opening, w), writer: w}
}

// Echo begins the answer with its prompt.
func (r *Reader) Echo(text string, tokens []engine.TokenLogprob) { r.writer.echo(text, tokens) }

// Read takes the next token of the output.
func (r *Reader) Read(t engine.TokenLogprob) {
	r.writer.tokens.add(t)
	r.scanner.write(t.Token)
}

// Done reports whether what may still come is no part of the answer.
func (r *Reader) Done() bool { return r.scanner.done() }

// Finish ends the answer: nothing more comes, for that reason.
func (r *Reader) Finish(reason engine.FinishReason) {
	r.scanner.finish(reason)
	r.writer.finish(reason)
}

// Events hands on the events that came since the last call.
func (r *Reader) Events() []engine.Event { return r.writer.take() }

// ReasoningTokens counts the tokens that were reasoning.
func (r *Reader) ReasoningTokens() int { return r.writer.tokens.reasoned }

// newScanner makes a scanner of one answer. opening is what the prompt
// already holds of the answer. Without tools, call markup is plain text.
func newScanner(format *Format, tools Tools, opening string, out *writer) *scanner {
	s := &scanner{format: format, tools: tools, out: out, fresh: true, step: (*scanner).prose}
	s.inText, s.inReasoning = marksOf(format, len(tools) > 0)
	if format.channels {
		s.openChannel(opening)
	}
	if format.opensReasoning(opening) {
		s.kind, s.skipSpace = proseReasoning, true
	}
	return s
}
