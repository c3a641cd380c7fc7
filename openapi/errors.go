package openapi

import (
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Error is an error that operations answer with. The document has it as an example of a
// reply.
type Error struct {
	Name    string // of the example: a code, and a detail after a dot if there are several
	Status  int
	Type    string // as in the example
	Code    string // as in the example; empty: none
	Message string // as in the example
	When    string // when it occurs, as a sentence
	Failed  string // code of a response that fails with it in a stream; or empty

	body []byte // the example
	line int
}

// Errors lists the errors of the operation, by status.
func (o *Operation) Errors() []Error {
	var all []Error
	for _, r := range o.Replies {
		all = append(all, r.Errors...)
	}
	return all
}

// Error returns the first of the named errors that any operation has.
func (d *Document) Error(names ...string) (Error, bool) {
	for _, name := range names {
		if e, ok := d.errors[name]; ok {
			return e, true
		}
	}
	return Error{}, false
}

// ErrorOf returns the error with that status and code, or else the first one with the
// status.
func (d *Document) ErrorOf(status int, code string) (Error, bool) {
	var found Error
	for _, o := range d.operations {
		for _, e := range o.Errors() {
			if e.Code == code && code != "" {
				return e, true
			}
			if e.Status == status && found.Name == "" {
				found = e
			}
		}
	}
	return found, found.Name != ""
}

// failedExtension is a field of an example, see [Error.Failed].
const failedExtension = "x-failed-response"

// compileErrors reads the examples of a reply.
func compileErrors(status int, media *openapi3.MediaType) ([]Error, error) {
	if status < 400 {
		return nil, nil
	}
	var all []Error
	for name, ref := range media.Examples {
		e := Error{Name: name, Status: status, When: strings.TrimSpace(ref.Value.Summary), line: line(ref.Value.Origin)}
		text, err := json.Marshal(ref.Value.Value)
		if err != nil {
			return nil, fmt.Errorf("example %s: %w", name, err)
		}
		var body struct {
			Error struct {
				Type    string `json:"type"`
				Code    string `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, fmt.Errorf("example %s: %w", name, err)
		}
		e.Type, e.Code, e.Message, e.body = body.Error.Type, body.Error.Code, body.Error.Message, text
		if e.Type == "" || e.Message == "" || e.When == "" {
			return nil, fmt.Errorf("example %s: an error has a type, a message and a summary that says when it comes", name)
		}
		e.Failed, _ = ref.Value.Extensions[failedExtension].(string)
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b Error) int { return a.line - b.line })
	return all, nil
}

// collectErrors checks the errors of all operations against the schemas of their replies.
// One name stands for one error.
func (d *Document) collectErrors() error {
	d.errors = map[string]Error{}
	for _, o := range d.operations {
		for _, r := range o.Replies {
			for _, e := range r.Errors {
				if err := o.CheckReply(r.Status, r.MediaType, e.body); err != nil {
					return fmt.Errorf("openapi: example %s: %w", e.Name, err)
				}
				first, ok := d.errors[e.Name]
				if ok && (first.Status != e.Status || first.Type != e.Type || first.Code != e.Code) {
					return fmt.Errorf("openapi: error %s of %s has the status, type and code %d %s %s, elsewhere %d %s %s",
						e.Name, o.ID, e.Status, e.Type, e.Code, first.Status, first.Type, first.Code)
				}
				d.errors[e.Name] = e
			}
		}
	}
	return nil
}
