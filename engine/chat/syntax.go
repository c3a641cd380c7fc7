package chat

// SyntaxKind is the shape of a tool call in a model's output.
type SyntaxKind string

// The closed list of shapes.
const (
	SyntaxUnknown SyntaxKind = ""       // the template shows no calls, or in an order that is not understood
	SyntaxJSON    SyntaxKind = "json"   // one JSON object holds the name and the arguments
	SyntaxNamed   SyntaxKind = "named"  // the name, then the arguments as one JSON object
	SyntaxTagged  SyntaxKind = "tagged" // the name, then each argument by itself
)

// Syntax is the markup of a model's output as its template shows it. White
// space in it is as in the template. An id of a call reads {id}.
//
//	SectionStart CallStart call CallEnd (Separator CallStart call CallEnd)* SectionEnd
//
// The call itself is, by kind:
//
//	json    {"NameField": name, "ArgumentsField": {…}}, in one array for all calls if Array is set
//	named   name NameEnd {…}
//	tagged  name NameEnd (ArgumentStart key KeyEnd value ArgumentEnd)*
type Syntax struct {
	ReasoningStart, ReasoningEnd string // trimmed; empty: the model does not think, or nothing shows how
	TurnEnd                      string

	Kind                     SyntaxKind
	SectionStart, SectionEnd string
	CallStart, CallEnd       string
	Separator                string

	Array                              bool
	NameField, ArgumentsField, IDField string

	NameEnd, ArgumentStart, KeyEnd, ArgumentEnd string

	Odd bool // a second call or argument is written in another way
}
