package template

import (
	"time"

	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/diglot/diglot/engine/chat/template/sandbox"
)

// Model is what a template has to know of its model.
type Model struct {
	Format   string   // name of its output format; empty: found from the template
	BOS, EOS string   // spellings of its tokens
	Control  []string // spellings of all control and user-defined tokens
}

// Template is a chat template, compiled, with what was learnt about it when
// it was loaded. It is safe for concurrent use.
type Template struct {
	model    Model
	script   *sandbox.Template // in Jinja
	golang   *goTemplate       // or in Go's language
	special  *control.Tokens
	bos, eos string // as the template sees them
	now      func() time.Time
	bounds   *bounds.Bounds
	caps     Capabilities
	format   string
	example  string     // how a call is written, for a model that is told of its tools in words
	fim      prompt.FIM // where the template says how it marks a gap
	header   string     // what stands in front of each turn of the assistant
}

// Rendering is a rendered prompt.
type Rendering struct {
	Spans []prompt.Span
	// Opening is the end of the prompt that belongs to the answer already,
	// such as "<think>\n": whoever reads the answer reads it first. The text
	// of an assistant message that is to be continued is not in it.
	Opening string
}

// Capabilities are what a chat template can show, found by rendering made-up
// conversations and looking for their words in the prompt.
type Capabilities struct {
	System         bool // a system turn in front
	SystemAnywhere bool // system turns at any place, several of them too
	Developer      bool // the role developer, as something of its own
	TypedContent   bool // content must be a list of parts, never a string
	Parts          bool // content may be a list of parts
	ResultParts    bool // that of a tool result may, too

	Tools           bool // descriptions of tools
	ToolsLast       bool // only where a user has the last word
	ToolCalls       bool // earlier calls and their results
	ParallelCalls   bool // several calls in one turn
	ObjectArguments bool // arguments of a call want to be an object, not JSON text
	StringArguments bool // they may be a string, whatever is in it
	NullContent     bool // content beside calls must be null, not empty
	ShortIDs        bool // ids of calls must be nine letters and digits

	ThinkingSwitch bool     // thinking can be turned on and off
	Efforts        []string // levels of thinking that the template accepts: of low, medium and high

	Syntax format.Syntax
}

// Capabilities returns what the template can show. The caller must not change
// the slices in it.
func (t *Template) Capabilities() Capabilities { return t.caps }

// Format names the output format that a model with this template writes.
func (t *Template) Format() string { return t.format }

// FIM returns how the template marks a gap in a text; zero: it does not say.
func (t *Template) FIM() prompt.FIM { return t.fim }

// repeats reports whether the template is one exchange, which a system turn in
// the middle of a conversation would break in two.
func (t *Template) repeats() bool { return t.golang != nil && !t.golang.whole }
