package modelfile

import (
	"fmt"
	"slices"
	"strings"
)

// The instructions, as [Instruction.Name] has them. A file may write them in
// any case.
const (
	From      = "FROM"      // what the model is: a name, a path or a URL. The one that must be there
	Parameter = "PARAMETER" // Key is its name
	Template  = "TEMPLATE"  // how a conversation becomes a prompt: a Go template or a Jinja one
	System    = "SYSTEM"    // the system text of conversations that have none
	Message   = "MESSAGE"   // a turn in front of each conversation; Key is its role
	Adapter   = "ADAPTER"   // path of a LoRA adapter in a GGUF file
	License   = "LICENSE"   // text; each one is kept
	Requires  = "REQUIRES"  // the oldest version of the program that can serve the model

	// Renderer and Parser name code inside Ollama. They are kept for it, and
	// nothing here uses them.
	Renderer = "RENDERER"
	Parser   = "PARSER"

	// Comment is a line that begins with #.
	Comment = "#"
)

// names are the instructions in the order that messages list them.
var names = []string{From, Parameter, Template, System, Message, Adapter, License, Requires, Renderer, Parser}

// File is a definition file.
type File struct {
	Instructions []Instruction
}

// Instruction is one of a file's, or a comment.
type Instruction struct {
	Name  string // one of the constants of this package
	Key   string // of a parameter its name, of a message its role; empty elsewhere
	Value string // without quotes
	Line  int    // where it begins, from 1; 0: not from a file
}

// Equal reports whether two files have the same instructions and comments, on
// whatever lines.
func (f *File) Equal(other *File) bool {
	if f == nil || other == nil {
		return f == other
	}
	return slices.EqualFunc(f.Instructions, other.Instructions, func(a, b Instruction) bool {
		a.Line, b.Line = 0, 0
		return a == b
	})
}

// String is the text of the file: [Parse] of it gives an equal one.
func (f *File) String() string {
	var b strings.Builder
	for _, i := range f.Instructions {
		b.WriteString(i.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// String is the instruction as a file has it, without the end of its line.
func (i Instruction) String() string {
	switch {
	case i.Name == Comment:
		return strings.TrimSpace(Comment + " " + i.Value)
	case i.Key != "":
		return i.Name + " " + i.Key + " " + quote(i.Value)
	}
	return i.Name + " " + quote(i.Value)
}

// Error is a mistake in a definition file. It is a sentence for the file's
// author.
type Error struct {
	Line    int // from 1; 0: none in particular
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// errorf is a mistake in the instruction.
func (i Instruction) errorf(format string, args ...any) *Error {
	return &Error{Line: i.Line, Message: fmt.Sprintf(format, args...)}
}
