// Package example shows recorded exchanges as code: curl, and the vendors' SDKs for
// Python, TypeScript and Go.
//
// One list, examples.yaml, says which recordings of cassettes are shown. The request of a
// recording is what is written as curl, Python and TypeScript; the typed parameters of Go
// stand in the list. The suite "examples" of tools/sdk runs the code of every page against a
// server, and checks that it sends a request of the recorded case, and prints what the page says.
package example

import (
	_ "embed"
	"encoding/json/jsontext"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/cassettes"
	"github.com/diglot/diglot/internal/cassette"
)

// Address is where the server of the examples listens.
const Address = "http://127.0.0.1:8484"

//go:embed examples.yaml
var list []byte

// Example is a recorded exchange as code.
type Example struct {
	Title, About string
	Case         string // in cassettes
	Status       int
	Code         []Code
	Prints       string // by the code of the SDKs
	Reply        string // as recorded
	Stream       bool   // the reply is an event stream
}

// Code is an example in one language.
type Code struct {
	Name     string // curl, Python, TypeScript, Go
	Language string // of a fenced code block
	Text     string
}

// entry is an item of the list.
type entry struct {
	From  string // name of a cassette
	Turn  int    // which of its exchanges
	Title string
	Show  []string // paths into the reply
	Extra []string // fields that the Python SDK does not name
	Go    string   // the argument of the Go SDK's method; empty where the method has one: no code
}

// exchange is what the code of an example is made from.
type exchange struct {
	entry
	operation string // style/operationId
	style     string
	method    string
	path      string
	request   node // kind 0: none
	reply     jsontext.Value
	stream    bool
	code      int // status
	failed    bool
}

// Of returns the examples of all operations by style/operationId.
func Of() (map[string][]Example, error) {
	var entries map[string][]entry
	if err := yaml.Unmarshal(list, &entries); err != nil {
		return nil, err
	}
	recorded, err := cassettes.Load()
	if err != nil {
		return nil, err
	}
	examples := map[string][]Example{}
	for operation, of := range entries {
		for _, e := range of {
			one, err := exampleOf(operation, e, recorded)
			if err != nil {
				return nil, fmt.Errorf("example %q of %s: %w", e.Title, operation, err)
			}
			examples[operation] = append(examples[operation], one)
		}
	}
	return examples, nil
}

func exampleOf(operation string, e entry, recorded []cassette.Cassette) (Example, error) {
	i := slices.IndexFunc(recorded, func(c cassette.Cassette) bool { return c.Name == e.From })
	if i < 0 || e.Turn >= len(recorded[i].Interactions) {
		return Example{}, fmt.Errorf("there is no recording %s with %d exchanges", e.From, e.Turn+1)
	}
	was := recorded[i].Interactions[e.Turn]
	name, _ := cassettes.CaseOf(recorded[i])
	style, _, _ := strings.Cut(operation, "/")
	x := exchange{
		entry: e, operation: operation, style: style, method: was.Request.Method, path: was.Request.URL,
		reply: jsontext.Value(was.Response.Body), code: was.Response.Code, failed: was.Response.Code >= 400,
	}
	var err error
	if was.Request.Body != "" {
		if x.request, err = parse([]byte(was.Request.Body)); err != nil {
			return Example{}, err
		}
		x.stream = x.request.field("stream").text == "true"
	}
	out := Example{Title: e.Title, About: aboutOf(name), Case: name, Status: was.Response.Code, Reply: was.Response.Body, Stream: x.stream}
	if out.Prints, err = x.prints(); err != nil {
		return out, err
	}
	out.Code = []Code{{"curl", "bash", x.curl()}, {"Python", "python", x.python()}, {"TypeScript", "typescript", x.typescript()}}
	if x.Go != "" || x.lists() {
		program, err := x.golang()
		if err != nil {
			return out, err
		}
		out.Code = append(out.Code, Code{"Go", "go", program})
	}
	return out, nil
}

// aboutOf returns why a case is recorded.
func aboutOf(name string) string {
	for _, c := range cassettes.Cases {
		if c.Name == name {
			return c.About
		}
	}
	return ""
}
