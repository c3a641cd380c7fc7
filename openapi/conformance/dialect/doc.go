// Package dialect says the same request in each of the four APIs that answer with text
// (chat completions, completions, responses, messages), and reads each answer into the same
// fields, so that a scenario is written once and run over all of them, plain and streamed.
//
// It writes what the vendors' own SDKs send and reads what they read, in generic JSON: it
// does not know the types of this server.
package dialect

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/diglot/diglot/openapi/conformance"
)

// Dialect is one API that answers with text.
type Dialect struct {
	Name      string // as in the names of scenarios: chat
	Style     conformance.Style
	Operation string // operationId
	Path      string

	Logprobs, Choices, Seeds, Bias bool // what its requests can ask for
	Tools, System, Schemas, Stops  bool
	Reasons                        bool // it can return reasoning

	write  func(Request) map[string]any
	read   func(*Answer, Object)
	stream func(*Answer, []conformance.Frame) error
}

// All returns the dialects.
func All() []Dialect { return []Dialect{Chat(), Completions(), Responses(), Messages()} }

// Request is a request in no dialect's words. Zero values are left out.
type Request struct {
	Model       string
	System      string
	Turns       []Turn
	MaxTokens   int
	Temperature *float64
	TopP        *float64
	Seed        *int
	Stop        []string
	Tools       []Tool
	Choice      Choice
	ChoiceName  string // for ChoiceNamed
	Single      bool   // at most one call
	JSON        bool   // any JSON object
	Schema      any    // JSON Schema of the answer
	Logprobs    int    // alternatives per token; 0: none asked for, -1: the tokens alone
	N           int
	Bias        map[string]int // by token id
	Stream      bool
	Usage       bool           // of a stream, where it must be asked for
	Extra       map[string]any // fields of the dialect itself; they win
}

// Greedy is a request for the most likely answer of a user's text.
func Greedy(model, text string, maxTokens int) Request {
	zero := 0.0
	return Request{Model: model, Turns: []Turn{{Role: "user", Text: text}}, MaxTokens: maxTokens, Temperature: &zero}
}

// Calling is the request with tools; one that is named is called once.
func (r Request) Calling(choice Choice, name string, tools ...Tool) Request {
	r.Tools, r.Choice, r.ChoiceName, r.Single = tools, choice, name, choice == ChoiceNamed
	return r
}

// Turn is one turn of a conversation.
type Turn struct {
	Role    string // system, user, assistant, or tool
	Text    string
	Image   string // data URL
	Think   string // reasoning of an earlier assistant turn
	Calls   []Call // of an assistant turn
	CallID  string // of a tool turn
	IsError bool   // of a tool turn
}

// Tool is a function that the model may call.
type Tool struct {
	Name, Description string
	Parameters        any // JSON Schema
}

// Choice says whether tools must be called.
type Choice string

// The choices. ChoiceUnset leaves it to the server.
const (
	ChoiceUnset    Choice = ""
	ChoiceAuto     Choice = "auto"
	ChoiceNone     Choice = "none"
	ChoiceRequired Choice = "required"
	ChoiceNamed    Choice = "named"
)

// Call is a call of a tool.
type Call struct {
	ID, Name  string
	Arguments string // JSON
}

// Token is one token with its log probability.
type Token struct {
	Text    string
	Bytes   []byte // nil: not told
	Logprob float64
	Top     []Token
	Offset  int // in the text, where the dialect tells it; else -1
}

// Finish says why an answer ended.
type Finish string

// The reasons. Any other value is the dialect's own word.
const (
	FinishStop   Finish = "stop" // end of turn, or a stop string where the dialect does not tell
	FinishLength Finish = "length"
	FinishTools  Finish = "tools"
	FinishString Finish = "stop string"
)

// Usage is the count of tokens. A count that was not told is -1.
type Usage struct{ Input, Output, Total, Cached, Reasoning int }

// One is one choice of an answer.
type One struct {
	Index     int
	Text      string
	Reasoning string
	Calls     []Call
	Finish    Finish
	StopText  string // the stop string, where it is told
	Tokens    []Token
}

// Answer is an answer in no dialect's words.
type Answer struct {
	ID, Model string
	IDs       []string // every id that a stream's events name for the answer
	Choices   []One    // by index
	Usage     Usage
	Deltas    []string // pieces of text of a stream, in order, of the first choice
	Error     string   // an error event of a stream
	Warm      bool     // the request has a temperature, which the server does not take

	Exchange *conformance.Exchange
}

// First is the first choice; its zero value where there is none.
func (a *Answer) First() One {
	if len(a.Choices) == 0 {
		return One{}
	}
	return a.Choices[0]
}

// one returns the choice with an index, which it makes if there is none.
func (a *Answer) one(index int) *One {
	for i := range a.Choices {
		if a.Choices[i].Index == index {
			return &a.Choices[i]
		}
	}
	a.Choices = append(a.Choices, One{Index: index})
	return &a.Choices[len(a.Choices)-1]
}

// Encode is the request in the dialect.
func (d Dialect) Encode(r Request) conformance.Request {
	body := d.write(r)
	for name, value := range r.Extra {
		body[name] = value
	}
	return conformance.Request{Path: d.Path, Body: body}
}

// Ask sends a request that must be answered, and reads the answer. What is not a 200, or
// cannot be read, ends the scenario: as not offered, if the document itself refuses the request
// in the server's profile.
func (d Dialect) Ask(t *conformance.Trial, r Request) *Answer {
	x := d.Do(t, r)
	if x.Status == http.StatusBadRequest {
		if why := d.refused(t, x); why != "" {
			t.NotOfferedf("the document says: %s", why)
		}
	}
	if x.Status != http.StatusOK {
		t.Fatalf(x, "status %d, want 200", x.Status)
	}
	a, err := d.Read(x)
	a.Warm = r.Temperature != nil && d.Warm(t)
	switch {
	case x.Err != nil:
		t.Fatalf(x, "the reply breaks off: %v", x.Err)
	case err != nil:
		t.Fatalf(x, "%v", err)
	case a.Error != "":
		t.Fatalf(x, "the stream ends with an error: %s", a.Error)
	}
	return a
}

// refused says why the document refuses a request, or nothing.
func (d Dialect) refused(t *conformance.Trial, x *conformance.Exchange) string {
	o, ok := t.Document(d.Style).Operation(d.Operation)
	if !ok {
		return ""
	}
	if _, v := o.Check(x.Request); v != nil {
		return v.Param() + " " + v.Reason
	}
	return ""
}

// Try is Ask for any goroutine: the error is why there is no answer.
func (d Dialect) Try(t *conformance.Trial, r Request) (*Answer, error) {
	if why := d.lacks(t, r); why != "" {
		return &Answer{}, errors.New(why)
	}
	x, err := t.Try(d.For(t, r))
	if err != nil {
		return &Answer{Exchange: x}, err
	}
	if x.Status == http.StatusBadRequest {
		if why := d.refused(t, x); why != "" {
			return &Answer{Exchange: x}, fmt.Errorf("the document says: %s", why)
		}
	}
	if x.Status != http.StatusOK {
		return &Answer{Exchange: x}, statusError(x.Status)
	}
	return d.Read(x)
}

// Read reads an answer, plain or streamed by its media type.
func (d Dialect) Read(x *conformance.Exchange) (*Answer, error) {
	a := &Answer{Exchange: x, Usage: Usage{-1, -1, -1, -1, -1}}
	if x.MediaType() == "text/event-stream" {
		frames, _ := x.Frames()
		return a, d.stream(a, frames)
	}
	var body Object
	if err := x.JSON(&body); err != nil {
		return a, err
	}
	d.read(a, body)
	return a, nil
}
