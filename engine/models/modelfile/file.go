package modelfile

import (
	"fmt"
	"strings"
)

// The values of [Instruction.Name]. A Modelfile may write them in any case.
const (
	From      = "FROM"      // required: a model name, a path or a URL
	Parameter = "PARAMETER" // Key is its name
	Template  = "TEMPLATE"  // chat template, Go or Jinja
	System    = "SYSTEM"    // default system prompt
	Message   = "MESSAGE"   // turn before each conversation; Key is its role
	Adapter   = "ADAPTER"   // path of a LoRA adapter, a GGUF file
	License   = "LICENSE"   // text; may be repeated
	Requires  = "REQUIRES"  // minimum version of the program

	// Renderer and Parser name code of Ollama. They are only kept for Ollama.
	Renderer = "RENDERER"
	Parser   = "PARSER"

	// Comment is a line that begins with #.
	Comment = "#"
)

// names are the instructions in the order of error messages.
var names = []string{From, Parameter, Template, System, Message, Adapter, License, Requires, Renderer, Parser}

// File is a parsed Modelfile.
type File struct {
	Instructions []Instruction
}

// Instruction is an instruction or a comment.
type Instruction struct {
	Name  string // one of the constants of this package
	Key   string // name of a parameter, role of a message; otherwise empty
	Value string // without quotes
	Line  int    // first line, from 1; 0: not from a file
}

// String formats the file, so that [Parse] returns the same instructions.
func (f *File) String() string {
	var b strings.Builder
	for _, i := range f.Instructions {
		b.WriteString(i.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// String formats the instruction without a newline at the end.
func (i Instruction) String() string {
	switch {
	case i.Name == Comment:
		return strings.TrimSpace(Comment + " " + i.Value)
	case i.Key != "":
		return i.Name + " " + i.Key + " " + quote(i.Value)
	}
	return i.Name + " " + quote(i.Value)
}

// Error is a mistake in a Modelfile, described for its author.
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

// errorf is the error for a mistake in the instruction.
func (i Instruction) errorf(format string, args ...any) *Error {
	return &Error{Line: i.Line, Message: fmt.Sprintf(format, args...)}
}
