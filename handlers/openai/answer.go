package openai

import (
	"net/http"

	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// answer is a JSON reply of any operation.
type answer struct {
	exchange *exchange.Exchange
	value    any
}

func (a answer) write(w http.ResponseWriter) error { return a.exchange.Reply(w, a.value) }

// streamed is a streamed reply.
type streamed struct {
	stream  *sse.Stream
	encoder sse.Encoder
}

// write returns no error, since the caller would write a second status.
func (s streamed) write(w http.ResponseWriter) error {
	s.stream.Serve(w, s.encoder)
	return nil
}

// The methods that the generated code calls.

func (a answer) VisitCreateChatCompletionResponse(w http.ResponseWriter) error { return a.write(w) }
func (a answer) VisitCreateCompletionResponse(w http.ResponseWriter) error     { return a.write(w) }
func (a answer) VisitCreateImageResponse(w http.ResponseWriter) error          { return a.write(w) }
func (a answer) VisitCreateResponseResponse(w http.ResponseWriter) error       { return a.write(w) }
func (a answer) VisitListModelsResponse(w http.ResponseWriter) error           { return a.write(w) }
func (a answer) VisitRetrieveModelResponse(w http.ResponseWriter) error        { return a.write(w) }

func (s streamed) VisitCreateChatCompletionResponse(w http.ResponseWriter) error { return s.write(w) }
func (s streamed) VisitCreateCompletionResponse(w http.ResponseWriter) error     { return s.write(w) }
func (s streamed) VisitCreateImageResponse(w http.ResponseWriter) error          { return s.write(w) }
func (s streamed) VisitCreateResponseResponse(w http.ResponseWriter) error       { return s.write(w) }
