package format

import (
	"strings"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// Format is how a family of models writes reasoning and tool calls. Families
// differ in this table, not in code.
type Format struct {
	Name string

	// Markers are the special tokens of the format. The model decodes them as
	// text, and drops all others.
	Markers []string

	// Calls are the syntaxes in which the model may write a call.
	Calls []callSyntax

	// Open and Close are the reasoning delimiters; empty: none.
	Open, Close string

	// Ends are markers that end the turn.
	Ends []string

	// Silent are markers that are removed from the text.
	Silent []string

	// IDLength is the length of call ids that the template demands; 0: any.
	IDLength int

	channels bool // harmony: every part of an answer has a header
}

// callSyntax is the markup around calls:
//
//	section open <call> end between open <call> end sectionEnd
//
// Models vary the white space; the grammar fixes it to pad and separator.
type callSyntax struct {
	section, sectionEnd string   // around all calls; empty: none
	open                string   // before each call
	ends                []string // after each call, in order; each may be missing
	between             string   // bytes that may separate calls
	array               bool     // the calls of a section are a JSON array
	optionalSection     bool     // models omit section: open alone begins a call
	bare                bool     // no delimiters: a JSON object at the start of the answer
	parseOnly           bool     // accepted from models that err, never in the grammar
	pad                 string   // grammar: before and after each call
	separator           string   // grammar: between calls
	parser              callParser
}

// opener is the delimiter by which the scanner finds the call.
func (c *callSyntax) opener() string {
	if c.section != "" {
		return c.section
	}
	return c.open
}

// HasCalls reports whether the format has tool calls.
func (f *Format) HasCalls() bool { return len(f.Calls) > 0 || f.channels }

// callsWhere returns the syntaxes for which fits is true.
func (f *Format) callsWhere(fits func(*callSyntax) bool) []*callSyntax {
	var list []*callSyntax
	for i := range f.Calls {
		if fits(&f.Calls[i]) {
			list = append(list, &f.Calls[i])
		}
	}
	return list
}

// opensReasoning reports whether the prompt ends inside reasoning.
func (f *Format) opensReasoning(opening string) bool {
	return f.Open != "" && strings.LastIndex(opening, f.Open) > strings.LastIndex(opening, f.Close)
}

// callParser parses one kind of call.
type callParser interface {
	// head parses up to the arguments; b begins after the opening delimiter. The
	// verdict is no unless it is a call of one of the tools.
	head(b []byte, tools Tools) (head, verdict)

	// grammar is a whole call as the model should write it.
	grammar(t *tool) grammar.Node
}

// argumentsParser parses the arguments of one call.
type argumentsParser interface {
	// read writes the arguments in b to out. It returns how many bytes it
	// consumed and whether the arguments are complete. final: b is the end of the
	// output.
	read(b []byte, final bool, out *writer) (n int, complete bool)
}

// head is the part of a call before its arguments.
type head struct {
	id   string // if the model wrote one
	name string
	size int             // bytes consumed
	body argumentsParser // of what follows
}
