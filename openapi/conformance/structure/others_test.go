package structure_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

// TestOtherServers gives answers of other servers to scenarios.
func TestOtherServers(t *testing.T) {
	const call = `{"tool_calls":[{"id":"call_1","type":"function","function":{"name":"get_weather_xxx","arguments":"{\"city\":\"Oslo\"}"}}]}`
	for _, tt := range []struct {
		about   string
		message string
		finish  string
		name    string
		marks   bool
		want    conformance.Outcome
	}{
		{"a named call ends with stop", call, "stop", "openai/chat/tools-many", false, conformance.Pass},
		{"a named call ends with the reason for calls", call, "tool_calls", "openai/chat/tools-many", false, conformance.Pass},
		{"a named call of ours ends with stop", call, "stop", "openai/chat/tools-many", true, conformance.Fail},
		{"a call that must come ends with stop", call, "stop", "openai/chat/tool-choice-required", false, conformance.Fail},
		{"no call", `{"content":"It rains."}`, "stop", "openai/chat/tools-many", false, conformance.Fail},
		{"no call within the limit", `{"content":"It rains."}`, "length", "openai/chat/tools-many", false, conformance.Skipped},
		{"an answer that nothing fits", `{"content":"{}"}`, "stop", "openai/chat/schema-impossible", false, conformance.Fail},
		{"an answer that is cut off", `{"content":"{\"v\":\""}`, "length", "openai/chat/schema-impossible", false, conformance.Pass},
	} {
		answers := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":%s,"finish_reason":%q}]}`, tt.message, tt.finish)
		}
		if r := runOne(t, http.HandlerFunc(answers), tt.name, tt.marks); r.Outcome != tt.want {
			t.Errorf("%s: %s %s %v, want %s", tt.about, r.Outcome, r.Reason, r.Failures, tt.want)
		}
	}
}
