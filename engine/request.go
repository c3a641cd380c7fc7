package engine

import (
	"encoding/json"
	"iter"
)

// Request asks for the answer to a conversation or the continuation of a raw
// prompt. A nil pointer means that the field is absent; an explicit zero is
// obeyed.
type Request struct {
	Model      string     // name as [Engine.Models] lists it
	Messages   []Message  // at least one, unless Prompt is set
	Prompt     *Prompt    // continued without a chat template; excludes Messages and Tools
	Tools      []Tool     // in the client's order, names unique
	ToolChoice ToolChoice // zero: the model decides
	Sampling   Sampling
	MaxTokens  *int // limit per choice; nil: the rest of the context
	Stop       []string
	Format     Format // zero: free text
	Reasoning  Reasoning
	Choices    int  // number of answers, 1 to MaxChoices
	BestOf     int  // number of answers of which the best Choices are returned, by mean token logprob; 0: Choices
	Logprobs   *int // n: with each text token its n most likely alternatives; nil: no logprobs
	Truncate   bool // drop the oldest turns of a conversation that is too long, instead of refusing it
}

// MaxChoices limits the number of answers to a request.
const MaxChoices = 128

// Prompt is a raw prompt, in which special-token text is parsed as special
// tokens.
type Prompt struct {
	Text   string
	Suffix string // not empty: fill in the middle between Text and Suffix
	Echo   bool   // repeat Text at the start of the answer
}

// Role is the author of a message. System and developer messages may appear anywhere.
type Role string

// The closed list of roles.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // holds ToolResult parts only
)

// Instructs reports whether the role gives instructions.
func (r Role) Instructs() bool { return r == RoleSystem || r == RoleDeveloper }

// Message is one turn.
type Message struct {
	Role  Role
	Name  string // optional name of the author
	Parts []Part
}

// Part is one part of a message: exactly one of [Text], [ReasoningText],
// [ToolCall], [ToolResult] and [Image].
type Part interface{ part() }

// Text is plain text.
type Text struct{ Text string }

// ReasoningText is earlier reasoning of the assistant, sent back by a client.
type ReasoningText struct{ Text string }

// NoArguments is the arguments text of a call without arguments.
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

// Image is an image, inline or by URL.
type Image struct {
	Data      []byte // decoded; nil when URL is set
	MediaType string // such as image/png, which Data must match; empty: detected from Data
	URL       string // http or https
	Param     string // its path as the style writes it, for errors; may be empty
}

// MaxImages limits the images of one request.
const MaxImages = 100

// Images yields the images among the parts, and those in tool results.
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

// CountImages returns the number of [Images].
func CountImages(parts []Part) int {
	n := 0
	for range Images(parts) {
		n++
	}
	return n
}

// NoImages returns the error of a text-only model if the messages have an
// image, else nil.
func NoImages(model string, messages []Message) error {
	for i, m := range messages {
		for image := range Images(m.Parts) {
			return image.Refuse(Errorf(CodeUnsupported, "The model %s does not take images.", model), i)
		}
	}
	return nil
}

// Refuse converts err to an error about an image of the given message.
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

// Tool is a function that the model may call. Parameters is the client's own
// JSON text, unchanged from the wire to the prompt and the grammar.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema of type object; nil: no arguments
	Strict      bool            // the arguments must follow the schema exactly
}

// ToolMode is whether the model may, must or must not call tools.
type ToolMode string

// The closed list of tool modes.
const (
	ToolAuto     ToolMode = ""         // the model decides
	ToolNone     ToolMode = "none"     // no call
	ToolRequired ToolMode = "required" // at least one call
)

// ToolChoice restricts the use of [Request.Tools].
type ToolChoice struct {
	Mode   ToolMode
	Names  []string // only these tools may be called; empty: all. ToolRequired with one name forces that tool
	Single bool     // at most one call in a reply
}

// FormatKind is the required shape of the answer's text.
type FormatKind string

// The closed list of formats.
const (
	FormatText   FormatKind = ""
	FormatJSON   FormatKind = "json"   // one JSON object
	FormatSchema FormatKind = "schema" // JSON that follows Format.Schema
)

// Format constrains the answer's text; a grammar enforces it.
type Format struct {
	Kind   FormatKind
	Name   string
	Schema json.RawMessage // the client's own text
}

// ReasoningMode turns reasoning on or off.
type ReasoningMode string

// The closed list of reasoning modes.
const (
	ReasoningDefault ReasoningMode = "" // the template's default
	ReasoningOn      ReasoningMode = "on"
	ReasoningOff     ReasoningMode = "off" // if the template supports it
)

// Reasoning configures reasoning before the answer.
type Reasoning struct {
	Mode   ReasoningMode
	Effort string // low, medium, high or empty; for templates that have levels
}
