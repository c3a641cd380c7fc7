package format

import (
	"strings"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// Format is how a family of models writes reasoning and tool calls. Families
// differ in a table, not in code: the scanner and the constraints read both
// from here.
type Format struct {
	Name string

	// Markers are control tokens that the format knows. They must come out of
	// the model as text; all others are dropped.
	Markers []string

	// Calls are the ways in which the model may write a call. The first is the
	// one that constraints ask for.
	Calls []callSyntax

	// Open and Close stand around reasoning; empty: the format has none.
	Open, Close string

	// Ends are spelled-out ends of a turn.
	Ends []string

	// Silent are marks of structure that a client does not see.
	Silent []string

	// IDLength is the length of the ids that the model's template wants; 0: any.
	IDLength int

	channels bool // harmony: every part of an answer has a header of its own
}

// callSyntax is the markup around calls:
//
//	section open <call> end between open <call> end sectionEnd
//
// Models vary the white space in it; pad and separator are what they are held
// to where output is constrained.
type callSyntax struct {
	section, sectionEnd string   // around a run of calls; empty: each stands alone
	open                string   // before each call
	ends                []string // behind each call, in order; each may be missing
	between             string   // bytes that may separate calls
	list                bool     // the calls of a section are a JSON array
	loose               bool     // models forget the section: open alone begins one
	bare                bool     // no mark at all: a JSON object at the start of the answer
	unasked             bool     // some models write it all the same: it is read, and never asked for
	pad                 string   // before and behind each call
	separator           string   // between calls
	reader              callReader
}

// opener is the mark by which the scanner finds the call.
func (c *callSyntax) opener() string {
	if c.section != "" {
		return c.section
	}
	return c.open
}

// HasCalls reports whether the format has a way to write calls.
func (f *Format) HasCalls() bool { return len(f.Calls) > 0 || f.channels }

// callsWhere lists the syntaxes that fit.
func (f *Format) callsWhere(fits func(*callSyntax) bool) []*callSyntax {
	var list []*callSyntax
	for i := range f.Calls {
		if fits(&f.Calls[i]) {
			list = append(list, &f.Calls[i])
		}
	}
	return list
}

// opensReasoning reports whether the part of the answer that the prompt already
// holds ends inside reasoning.
func (f *Format) opensReasoning(opening string) bool {
	return f.Open != "" && strings.LastIndex(opening, f.Open) > strings.LastIndex(opening, f.Close)
}

// callReader reads one kind of call.
type callReader interface {
	// head reads up to the arguments; b begins behind the opening mark. It
	// says no for anything but a call of one of the tools.
	head(b []byte, tools Tools) (head, verdict)

	// grammar is a whole call as the model should write it.
	grammar(t *tool) grammar.Node
}

// callBody reads the arguments of one call.
type callBody interface {
	// read gives out what b adds to the arguments. It returns how many bytes it
	// used up and whether the arguments are complete. With final set nothing
	// more comes.
	read(b []byte, final bool, out *writer) (n int, complete bool)
}

// head is what stands before the arguments of a call.
type head struct {
	id   string // where the model wrote one
	name string
	size int      // bytes used up
	body callBody // reads what follows
}
