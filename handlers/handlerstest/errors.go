package handlerstest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/diglot/diglot/openapi"
)

// sentError is an error in a reply or in an event.
type sentError struct {
	Type string  `json:"type"`
	Code *string `json:"code"`
}

// is reports whether listed documents this error. Status 0 matches any, as the status of a
// stream is already sent.
func (e sentError) is(listed openapi.Error, status int) bool {
	code := ""
	if e.Code != nil {
		code = *e.Code
	}
	return (status == 0 || listed.Status == status) && listed.Type == e.Type && listed.Code == code
}

// checkError checks an error in a body or event against those that the operation lists.
func checkError(document *openapi.Document, operation *openapi.Operation, status int, body []byte) error {
	var reply struct{ Error *sentError }
	if json.Unmarshal(body, &reply) != nil || reply.Error == nil || reply.Error.Type == "" {
		return nil // an invalid error does not fit its schema
	}
	operations := []*openapi.Operation{operation}
	if operation == nil {
		operations = document.Operations() // errors are the same everywhere
	}
	for _, o := range operations {
		if slices.ContainsFunc(o.Errors(), func(e openapi.Error) bool { return reply.Error.is(e, status) }) {
			return nil
		}
	}
	return fmt.Errorf("the document lists no error of status %d with this type and code: %s", status, body)
}

// transport lists reply headers that HTTP brings along, and why.
var transport = map[string]string{
	"Content-Type":      "OpenAPI says it by the content of a reply",
	"Content-Length":    "of HTTP, set by net/http",
	"Date":              "of HTTP, set by net/http",
	"Connection":        "of HTTP, about the connection alone",
	"Vary":              "of HTTP, for caches",
	"Cache-Control":     "of HTTP, for caches: event streams are not kept",
	"X-Accel-Buffering": "for nginx: event streams are not collected",

	"Access-Control-Allow-Origin":          "for browsers, by the CORS protocol",
	"Access-Control-Expose-Headers":        "for browsers, by the CORS protocol",
	"Access-Control-Allow-Methods":         "for browsers, by the CORS protocol",
	"Access-Control-Allow-Headers":         "for browsers, by the CORS protocol",
	"Access-Control-Max-Age":               "for browsers, by the CORS protocol",
	"Access-Control-Allow-Private-Network": "for browsers, by the CORS protocol",
}

// checkHeaders checks reply headers against the document. Errors have the same ones
// everywhere; replies without operation, such as to a preflight, have those of a success.
func checkHeaders(document *openapi.Document, operation *openapi.Operation, status int, header http.Header) error {
	all := document.Operations()
	if operation != nil {
		all = append([]*openapi.Operation{operation}, all...)
	}
	r := replyWith(all, status)
	if r == nil {
		r = replyWith(all, http.StatusOK)
	}
	return r.CheckHeaders(header, func(name string) bool { return transport[name] != "" })
}

func replyWith(operations []*openapi.Operation, status int) *openapi.Reply {
	for _, o := range operations {
		for i := range o.Replies {
			if o.Replies[i].Status == status {
				return &o.Replies[i]
			}
		}
	}
	return nil
}
