// Package openai implements the OpenAI style: it maps the wire types of openapi/openai.yaml
// to the neutral types of package engine and back, and nothing else. handlers/anthropic has
// the same files for the other style:
//
//	api.go        the router
//	request.go    wire to engine; may fail
//	message.go    the messages of a request
//	response.go   engine to wire; cannot fail
//	stream.go     engine to wire, event by event
//	errors.go     errors of the engine as the document has them
//
// and one file per operation. completion_request.go and so on are the same for raw prompts,
// and response_request.go and so on for responses: there response_items.go reads the
// conversation, response_object.go makes the reply, and response_errors.go maps paths.
package openai

import (
	"net/http"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/mount"
	"github.com/diglot/diglot/handlers/internal/validate"
	"github.com/diglot/diglot/openapi"
)

// Config says what to serve.
type Config struct {
	Engine   engine.Engine
	Document *openapi.Document // compiled for the profile
	MaxBody  int64             // bytes of a request body
	Clock    func() time.Time
}

// API implements the operations of openapi/openai.yaml.
type API struct {
	engine engine.Engine
	clock  func() time.Time
}

var _ wire.StrictServerInterface = (*API)(nil)

// New returns the handler of all operations.
func New(c Config) http.Handler {
	api := &API{engine: c.Engine, clock: c.Clock}
	write := mount.WriteError(WriteError)
	strict := wire.NewStrictHandlerWithOptions(api, nil, wire.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  write.Unbound,
		ResponseErrorHandlerFunc: write.Failed,
	})
	router := mount.Router(c.Document, WriteError)
	wire.HandlerWithOptions(strict, wire.ChiServerOptions{
		// The generated code supports middlewares too, but binds parameters before it calls
		// them.
		BaseRouter: router.With(validate.Middleware(validate.Config{
			Document:      c.Document,
			MaxBody:       c.MaxBody,
			FromViolation: fromViolation,
			WriteError:    WriteError,
		})),
		ErrorHandlerFunc: write.Unbound,
	})
	return router
}
