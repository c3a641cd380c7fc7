package template

import (
	"time"

	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/diglot/diglot/engine/chat/template/sandbox"
)

// Model describes the model of a template.
type Model struct {
	Format   string   // name of its output format; empty: detected from the template
	BOS, EOS string   // token texts
	Control  []string // texts of all control and user-defined tokens
}

// Template is a compiled and probed chat template. It is safe for concurrent use.
type Template struct {
	model    Model
	script   *sandbox.Template // Jinja, or
	golang   *goTemplate       // Go
	special  *control.Tokens
	bos, eos string // as placeholders
	now      func() time.Time
	bounds   *bounds.Bounds
	caps     Capabilities
	format   string
	example  string     // a sample call, if the system prompt describes the tools
	fim      prompt.FIM // if the template has fill in the middle
	header   string     // of assistant turns
}

// Rendering is a rendered prompt.
type Rendering struct {
	Spans []prompt.Span
	// Opening is the end of the generation prompt that is part of the answer, such
	// as "<think>\n": a parser of the answer starts with it. The text of an
	// assistant message that is continued is not in it.
	Opening string
}

// Capabilities are what a chat template supports, found by probing.
type Capabilities struct {
	System         bool // a leading system turn
	SystemAnywhere bool // several system turns, in any position
	Developer      bool // the role developer, not as an alias
	TypedContent   bool // content must be a list of parts, never a string
	Parts          bool // content may be a list of parts
	ResultParts    bool // content of a tool result may be a list of parts

	Tools           bool // tool definitions
	ToolsLast       bool // tool definitions, but only if the last turn is the user's
	ToolCalls       bool // earlier calls and their results
	ParallelCalls   bool // several calls in one turn
	ObjectArguments bool // arguments must be an object, not a string
	StringArguments bool // arguments may be a string of any content
	NullContent     bool // content of a turn with calls must be null, not empty
	ShortIDs        bool // call ids must be nine letters and digits

	ThinkingSwitch bool     // reasoning can be turned on and off
	Efforts        []string // supported ones of low, medium and high

	Syntax format.Syntax
}

// Capabilities returns what the template supports. The caller must not change its
// slices.
func (t *Template) Capabilities() Capabilities { return t.caps }

// Format names the output format that a model with this template writes.
func (t *Template) Format() string { return t.format }

// FIM returns the fill-in-the-middle tokens of the template; zero: none.
func (t *Template) FIM() prompt.FIM { return t.fim }

// repeats reports whether the template is one exchange. A later system turn would
// split an exchange in two.
func (t *Template) repeats() bool { return t.golang != nil && !t.golang.usesMessages }
