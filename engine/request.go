package engine

import (
	"encoding/json"
	"iter"
)

// Request is one generation, in neutral words: the answer to a conversation,
// or the continuation of a raw text. Pointers mean "absent": a zero that a
// client sent is obeyed.
type Request struct {
	Model      string     // name as [Engine.Models] lists it
	Messages   []Message  // at least one, unless Prompt is set
	Prompt     *Prompt    // continued as it is, without a template; then there are no messages and tools
	Tools      []Tool     // in the client's order, names unique
	ToolChoice ToolChoice // zero: the model decides
	Sampling   Sampling
	MaxTokens  *int // most tokens to generate for one choice; nil: what the context leaves
	Stop       []string
	Format     Format // zero: free text
	Reasoning  Reasoning
	Choices    int  // independent answers, 1 to MaxChoices
	BestOf     int  // how many answers compete for the Choices places, by the mean logprob of their tokens; 0: no more than Choices
	Logprobs   *int // nil: none; n: for each token of text, also its n likeliest alternatives
	Truncate   bool // leave out the oldest turns of a conversation that is too long, instead of refusing it
}

// MaxChoices is how many answers a request may ask for.
const MaxChoices = 128

// Prompt is a raw text, in which the spellings of control tokens count as
// such.
type Prompt struct {
	Text   string
	Suffix string // not empty: the answer is what stands between Text and this
	Echo   bool   // the answer begins with Text
}

// Role says who speaks. System and developer turns may stand anywhere.
type Role string

// The closed list of roles.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // holds ToolResult parts only
)

// Instructs reports whether the role is that of instructions.
func (r Role) Instructs() bool { return r == RoleSystem || r == RoleDeveloper }

// Message is one turn.
type Message struct {
	Role  Role
	Name  string // optional name of the speaker
	Parts []Part
}

// Part is one piece of a message: exactly one of [Text], [ReasoningText],
// [ToolCall], [ToolResult] and [Image].
type Part interface{ part() }

// Text is plain text.
type Text struct{ Text string }

// ReasoningText is earlier thinking of the assistant, sent back by a client.
type ReasoningText struct{ Text string }

// NoArguments is what a call without arguments has for them.
const NoArguments = "{}"

// ToolCall is an earlier call by the assistant.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON text as the model wrote it; may be invalid
}

// ToolResult answers the call with the same ID.
type ToolResult struct {
	CallID  string
	Name    string // of the tool, found from the call
	Parts   []Part // Text and Image only
	IsError bool
}

// Image is a picture, by content or by URL.
type Image struct {
	Data      []byte // decoded; nil when URL is set
	MediaType string // image/png and the like, which the data must then be; empty: the data tells
	URL       string // http or https
	Param     string // its place in the style's own words, for errors; may be empty
}

// MaxImages is how many images one request may have.
const MaxImages = 100

// Images lists the images among the parts and in results there.
func Images(parts []Part) iter.Seq[Image] {
	return func(yield func(Image) bool) {
		for _, p := range parts {
			switch p := p.(type) {
			case Image:
				if !yield(p) {
					return
				}
			case ToolResult:
				for image := range Images(p.Parts) {
					if !yield(image) {
						return
					}
				}
			}
		}
	}
}

// CountImages counts the images among the parts and in results there.
func CountImages(parts []Part) int {
	n := 0
	for range Images(parts) {
		n++
	}
	return n
}

// NoImages is the error of a model that takes none, where the messages have
// one; nil: they have not.
func NoImages(model string, messages []Message) error {
	for i, m := range messages {
		for image := range Images(m.Parts) {
			return image.Refuse(Errorf(CodeUnsupported, "The model %s does not take images.", model), i)
		}
	}
	return nil
}

// Refuse is an error about an image in a message, with its place.
func (i Image) Refuse(err error, message int) *Error {
	refusal := AsError(err).At(Place{Field: FieldMessages, Index: message})
	refusal.Param = i.Param
	return refusal
}

func (Text) part()          {}
func (ReasoningText) part() {}
func (ToolCall) part()      {}
func (ToolResult) part()    {}
func (Image) part()         {}

// Tool is a function that the model may call. Parameters stays the client's
// own JSON text from the wire to the prompt and the grammar.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema of type object; nil: no arguments
	Strict      bool            // the client asked for arguments that follow the schema exactly
}

// ToolMode says whether the model may, must, or must not call tools.
type ToolMode string

// The closed list of tool modes.
const (
	ToolAuto     ToolMode = ""         // the model decides
	ToolNone     ToolMode = "none"     // no call
	ToolRequired ToolMode = "required" // at least one call
)

// ToolChoice narrows the use of [Request.Tools].
type ToolChoice struct {
	Mode   ToolMode
	Names  []string // only these tools may be called; empty: all. One name and ToolRequired is a named choice
	Single bool     // at most one call in a reply
}

// FormatKind says what shape the text of the answer must have.
type FormatKind string

// The closed list of formats.
const (
	FormatText   FormatKind = ""
	FormatJSON   FormatKind = "json"   // one JSON object
	FormatSchema FormatKind = "schema" // JSON that follows Format.Schema
)

// Format constrains the text of the answer; it is enforced by a grammar.
type Format struct {
	Kind   FormatKind
	Name   string
	Schema json.RawMessage // the client's own text
}

// ReasoningMode says whether a model that can think should.
type ReasoningMode string

// The closed list of reasoning modes.
const (
	ReasoningDefault ReasoningMode = "" // as the model's template defaults
	ReasoningOn      ReasoningMode = "on"
	ReasoningOff     ReasoningMode = "off" // off where the template can
)

// Reasoning asks for thinking before the answer.
type Reasoning struct {
	Mode   ReasoningMode
	Effort string // low, medium, high, or empty; for templates that know levels
}
