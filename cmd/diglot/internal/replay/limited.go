package replay

import (
	"encoding/json/v2"
	"io"
	"net/http"

	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
)

// usualWait is how many seconds a client is told to wait.
const usualWait = "5"

// limited answers with the rate limit of the vendors. The documents have no such error, and
// say so at the header Diglot-Replay: this program limits no rates, and tells an overload
// with another status.
func (s *server) limited(w http.ResponseWriter, r *http.Request, status *fault.Status) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Retry-After", usualWait)
	if status.NoRetry {
		header.Set("X-Should-Retry", "false")
	}
	body := openAILimit()
	if s.document(r) == s.documents.Anthropic {
		body = anthropicLimit(header.Get("X-Request-Id"))
	}
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		panic(err) // strings only
	}
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, string(text)+"\n") // fails only if the client has disconnected
}

const limitMessage = "Rate limit reached. This error was asked for."

// openAILimit is what OpenAI sends: the type says what is limited, requests or tokens.
func openAILimit() any {
	type problem struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	}
	return struct {
		Error problem `json:"error"`
	}{problem{limitMessage, "requests", nil, "rate_limit_exceeded"}}
}

// anthropicLimit is what Anthropic sends.
func anthropicLimit(requestID string) any {
	type problem struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return struct {
		Type      string  `json:"type"`
		Error     problem `json:"error"`
		RequestID string  `json:"request_id"`
	}{"error", problem{"rate_limit_error", limitMessage}, requestID}
}
