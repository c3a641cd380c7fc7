package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestHalfCall has a model end with an incomplete call that it calls complete. Styles with
// text input pass it on; styles with an object fail, streamed or not.
func TestHalfCall(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: &handlerstest.Engine{Name: "m", Events: []engine.Event{
		engine.Start{}, engine.BlockStart{Kind: engine.BlockToolCall, CallID: "1", Name: "f"}, engine.ToolCallDelta{Arguments: `{"a":`},
		engine.BlockStop{}, engine.Finish{Reason: engine.FinishToolCalls}, engine.Done{}}}})
	for _, tt := range []struct {
		path, body string
		status     int
		want, not  string
	}{
		{"/v1/chat/completions", chatBody, http.StatusOK, `"arguments":"{\"a\":"`, "error"},
		{"/v1/messages", messagesBody, http.StatusBadGateway, "is not a JSON object", "tool_use"},
		{"/v1/messages", strings.TrimSuffix(messagesBody, "}") + `,"stream":true}`, http.StatusOK, "is not a JSON object", "message_stop"},
	} {
		w := post(t, h, tt.path, []byte(tt.body))
		if got := w.Body.String(); w.Code != tt.status || !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: status %d, want %d with %s and without %s\n%s", tt.path, w.Code, tt.status, tt.want, tt.not, got)
		}
	}
}
