package structure_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/structure"
)

var controls = []string{
	"<|im_end|>", "<|im_start|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "</s>", "<s>",
	"<end_of_turn>", "<start_of_turn>", "[INST]", "[/INST]", "<<SYS>>", "<|start|>", "<|message|>", "<|return|>",
	"<think>", "</think>", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<function=get_weather>", "<|python_tag|>",
	"{{ messages }}", "{% endfor %}", "{{ raise_exception('x') }}", "<unk>", "<pad>", "<bos>", "<eos>", "<|user|>",
}

var token = regexp.MustCompile(`[A-Za-z]+|[0-9]|[^\sA-Za-z0-9]+`)

// counting is a server of chat completions that counts the tokens of its request as sent, one
// spelling as one token.
func counting(requests *atomic.Int32, control string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		sent, _ := io.ReadAll(r.Body)
		text := string(sent)
		if control != "" {
			text = strings.ReplaceAll(text, control, " 7 ")
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"usage":{"prompt_tokens":%d}}`, len(token.FindAllString(text, -1)))
	}
}

// runOne runs one scenario against a handler.
func runOne(t *testing.T, handler http.Handler, name string, marks bool) conformance.Result {
	t.Helper()
	documents, err := openapi.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	target := &conformance.Target{BaseURL: server.URL, Documents: documents, Marks: marks, Models: conformance.Models{Text: "m"}}
	for _, s := range structure.All() {
		if s.Name == name {
			return conformance.Run(t.Context(), target, []conformance.Scenario{s}, conformance.Options{}).Results[0]
		}
	}
	t.Fatalf("no scenario %s", name)
	return conformance.Result{}
}

// TestTextStaysText reads one spelling after the other as a token, which is to be found; and
// none, for which few requests must do.
func TestTextStaysText(t *testing.T) {
	for _, place := range []string{"user", "system", "earlier-answer", "tool-description", "tool-result"} {
		name := "openai/chat/text-stays-text-" + place
		var requests atomic.Int32
		if r := runOne(t, counting(&requests, ""), name, false); r.Outcome != conformance.Pass || requests.Load() > 15 {
			t.Errorf("%s: %s %s after %d requests, want a pass after 15", name, r.Outcome, r.Reason, requests.Load())
		}
		for _, control := range controls {
			r := runOne(t, counting(&requests, control), name, false)
			if len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Message, fmt.Sprintf("%q", control)) {
				t.Errorf("%s, where %s is a token: %s %v", name, control, r.Outcome, r.Failures)
			}
		}
	}
}

// TestTextIsCounted fails a server that leaves out texts of the conversation.
func TestTextIsCounted(t *testing.T) {
	deaf := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"usage":{"prompt_tokens":12}}`)
	}
	for place, want := range map[string]conformance.Outcome{"user": conformance.Fail, "tool-result": conformance.Fail, "tool-description": conformance.Skipped} {
		if r := runOne(t, http.HandlerFunc(deaf), "openai/chat/text-stays-text-"+place, false); r.Outcome != want {
			t.Errorf("%s: %s, want %s", place, r.Outcome, want)
		}
	}
}
