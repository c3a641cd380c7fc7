package scenario_test

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/scenario"
)

// judge runs one scenario against a handler of request bodies.
func judge(t *testing.T, name string, marks bool, answer func(w http.ResponseWriter, sent string)) conformance.Result {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		answer(w, string(sent))
	}))
	defer server.Close()
	target := documents(t)
	target.BaseURL, target.Marks, target.Models.Text = server.URL, marks, "m"
	for _, s := range scenario.All() {
		if s.Name == name {
			return conformance.Run(t.Context(), target, []conformance.Scenario{s}, conformance.Options{}).Results[0]
		}
	}
	t.Fatalf("no scenario %s", name)
	return conformance.Result{}
}

func refuse(w http.ResponseWriter, message string) {
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, `{"error":{"message":%q}}`, message)
}

func say(w http.ResponseWriter, text string) {
	quoted, _ := json.Marshal(text)
	fmt.Fprintf(w, `{"id":"x","choices":[{"index":0,"text":%s,"message":{"content":%[1]s},"finish_reason":"length"}],"content":[{"type":"text","text":%[1]s}],
		"stop_reason":"max_tokens","usage":{"prompt_tokens":9,"input_tokens":9}}`, quoted)
}

// TestWithoutTemperature is a server that refuses temperature, as the newest models do.
func TestWithoutTemperature(t *testing.T) {
	var sent atomic.Int32
	cool := func(w http.ResponseWriter, body string) {
		n := sent.Add(1)
		if strings.Contains(body, `"temperature"`) {
			refuse(w, "Unsupported value: 'temperature' does not support 0 with this model.")
			return
		}
		say(w, fmt.Sprint("answer ", n))
	}
	for name, want := range map[string]conformance.Outcome{
		"openai/chat/greedy/same-text":               conformance.NotOffered,
		"openai/chat/history/own-text":               conformance.NotOffered,
		"openai/chat/sampling/differs":               conformance.Pass,
		"openai/chat/usage/same-when-cached":         conformance.Pass,
		"anthropic/messages/sampling/top-p-0":        conformance.NotOffered,
		"anthropic/messages/sampling/differs":        conformance.Pass,
		"openai/completions/usage/forms-count-alike": conformance.NotOffered,
	} {
		if r := judge(t, name, false, cool); r.Outcome != want {
			t.Errorf("%s: %s %s %v, want %s", name, r.Outcome, r.Reason, r.Failures, want)
		}
	}
	if r := judge(t, "openai/chat/sampling/differs", true, cool); r.Outcome != conformance.Fail {
		t.Errorf("a server of ours that refuses temperature: %s, want %s", r.Outcome, conformance.Fail)
	}
}

// TestOtherServers holds that nobody is bound by what is this server's own.
func TestOtherServers(t *testing.T) {
	noSystem := func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"role":"system"`) {
			refuse(w, "messages.1.role: Input should be 'user' or 'assistant'")
			return
		}
		say(w, "Hello.")
	}
	oneOfBoth := func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"temperature"`) && strings.Contains(body, `"top_p"`) {
			refuse(w, "`temperature` and `top_p` cannot both be specified for this model.")
			return
		}
		say(w, "Hello.")
	}
	ignores := func(w http.ResponseWriter, _ string) { say(w, "Water is wet.") }
	offsets := func(from int) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, _ string) {
			fmt.Fprintf(w, `{"choices":[{"index":0,"text":"ab cd","finish_reason":"length","logprobs":{"tokens":["ab"," cd"],"token_logprobs":[-1,-1],"text_offset":[%d,%d]}}]}`, from, from+2)
		}
	}
	for _, tt := range []struct {
		about  string
		name   string
		marks  bool
		answer func(http.ResponseWriter, string)
		want   conformance.Outcome
	}{
		{"no turns of the system", "anthropic/messages/turns/system-in-the-middle", false, noSystem, conformance.NotOffered},
		{"no turns of the system, though ours", "anthropic/messages/turns/system-in-the-middle", true, noSystem, conformance.Fail},
		{"no turns of the system in chat", "openai/chat/turns/several-systems", false, noSystem, conformance.Fail},
		{"one of temperature and top_p", "anthropic/messages/sampling/top-p-0", false, oneOfBoth, conformance.Pass},
		{"no response_format of completions", "openai/completions/finish/stop", false, ignores, conformance.NotOffered},
		{"no response_format of completions, though ours", "openai/completions/finish/stop", true, ignores, conformance.Fail},
		{"offsets from 0", "openai/completions/logprobs/text-offsets", false, offsets(0), conformance.Pass},
		{"offsets from the prompt", "openai/completions/logprobs/text-offsets", false, offsets(54), conformance.Pass},
		{"offsets from the prompt, though ours", "openai/completions/logprobs/text-offsets", true, offsets(54), conformance.Fail},
	} {
		if r := judge(t, tt.name, tt.marks, tt.answer); r.Outcome != tt.want {
			t.Errorf("%s: %s %s %v, want %s", tt.about, r.Outcome, r.Reason, r.Failures, tt.want)
		}
	}
}

// TestMixed gives the answers of the first request to all that come at once, or broken ones.
func TestMixed(t *testing.T) {
	for name, answer := range map[string]func(first bool) string{
		"another's": func(bool) string { return `{"text":"n00 a"}` },
		"broken": func(first bool) string {
			if first {
				return `{"text":"n00 a"}`
			}
			return `{"text":"n0`
		},
	} {
		var sent atomic.Int32
		r := judge(t, "openai/chat/parallel/answers-do-not-mix", true, func(w http.ResponseWriter, _ string) {
			say(w, answer(sent.Add(1) <= 2)) // the first asks whether there is such an operation
		})
		if r.Outcome != conformance.Fail {
			t.Errorf("%s: %s %s, want a failure", name, r.Outcome, r.Reason)
		}
	}
}

// TestLogprobsAfterSampling finds log probabilities that were scaled by the temperature, even
// of a token that is likely by far.
func TestLogprobsAfterSampling(t *testing.T) {
	scaled := func(by float64) func(http.ResponseWriter, string) {
		return func(w http.ResponseWriter, body string) {
			first, second := -0.1, -2.4
			if strings.Contains(body, `"temperature":0.2`) {
				first, second = -0.1/by, -2.4*by
			}
			fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"length","logprobs":{"content":[{"token":"a","logprob":%[1]g,
				"top_logprobs":[{"token":"a","logprob":%[1]g},{"token":"b","logprob":%[2]g}]}]}}]}`, first, second)
		}
	}
	for by, want := range map[float64]conformance.Outcome{1: conformance.Pass, 5: conformance.Fail} {
		if r := judge(t, "openai/chat/logprobs/before-sampling", true, scaled(by)); r.Outcome != want {
			t.Errorf("scaled by %g: %s %s %v, want %s", by, r.Outcome, r.Reason, r.Failures, want)
		}
	}
}
