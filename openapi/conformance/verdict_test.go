package conformance

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name, body, pointer string
		want                bool
	}{
		{"in param", `{"error":{"param":"n","message":"wrong"}}`, "n", true},
		{"in the message", `{"error":{"message":"messages[0].content: wrong","param":null}}`, "messages/0/content", true},
		{"with dots", `{"error":{"message":"messages.0.content: wrong"}}`, "messages/0/content", true},
		{"its last name", `{"error":{"message":"content is wrong"}}`, "messages/0/content", true},
		{"without an envelope", `{"error":"model 'm' not found"}`, "model", true},
		{"a letter of a word", `{"error":{"message":"invalid value"}}`, "n", false},
		{"part of a longer name", `{"error":{"message":"max_tokens_total and top_logprobs"}}`, "logprobs", false},
		{"a field of the envelope", `{"error":{"type":"t","code":"c","message":"wrong"}}`, "tools/0/type", false},
		{"outside the envelope", `{"error":{"message":"wrong"},"seed":1}`, "seed", false},
		{"no JSON", `seed`, "seed", false},
	} {
		if got := names([]byte(tt.body), strings.Split(tt.pointer, "/")); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestVerdicts runs the cases of one field against servers that answer in one way.
func TestVerdicts(t *testing.T) {
	refuse := func(message string) *http.Response {
		return answerWith(400, `{"error":{"message":"`+message+`","type":"invalid_request_error","param":null,"code":null}}`)
	}
	all := func(message string) func([]byte) *http.Response {
		return func([]byte) *http.Response { return refuse(message) }
	}
	takes := func([]byte) *http.Response { return answer(200) }
	for _, tt := range []struct {
		name, field string
		server      func(body []byte) *http.Response
		marks       bool
		want        Outcome
	}{
		{"the odd value is refused by name", "temperature", func(body []byte) *http.Response {
			if bytes.Contains(body, []byte(`"temperature":null`)) || !bytes.Contains(body, []byte("temperature")) {
				return answer(200)
			}
			return refuse("temperature: wrong")
		}, false, Pass},
		{"it is taken", "temperature", takes, false, Fail},
		{"everything is refused", "temperature", all("temperature: wrong"), false, Fail},
		{"all but a plain request is refused", "tools[].function.name", func(body []byte) *http.Response {
			if bytes.Contains(body, []byte("tools")) {
				return refuse("no tools")
			}
			return answer(200)
		}, false, Skipped},
		{"the odd value is refused in other words", "temperature", func(body []byte) *http.Response {
			if bytes.Contains(body, []byte(`"temperature":null`)) || !bytes.Contains(body, []byte("temperature")) {
				return refuse("no such model")
			}
			return refuse("temperature: wrong")
		}, false, Pass},
		{"everything ends in a failure", "temperature", func([]byte) *http.Response { return answerWith(500, `{"error":{"message":"broken"}}`) }, false, Fail},
		{"everything is refused, by its own server too", "temperature", all("temperature: wrong"), true, Fail},
		{"a field of other servers is taken", "min_p", takes, false, Skipped},
		{"one of this server is taken", "min_p", takes, true, Fail},
		{"null for a field that only the vendor has", "metadata", takes, false, Pass},
	} {
		target := stubbed(t, func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			return tt.server(body), nil
		})
		target.Marks, target.Models.Text = tt.marks, "m"
		fields, err := target.fields(OpenAI, chatOf(t, target))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(fields, func(s Scenario) bool { return s.Name == "openai/chat/field/"+tt.field })
		if i < 0 {
			t.Fatalf("%s: no such field", tt.name)
		}
		fields[i].Operation = "" // whether it is offered is not asked
		if got := Run(t.Context(), target, fields[i:i+1], Options{}).Results[0]; got.Outcome != tt.want {
			t.Errorf("%s: %s %s %v, want %s", tt.name, got.Outcome, got.Reason, got.Failures, tt.want)
		}
	}
}

// TestExtension holds that the mark of a field is that of what is inside.
func TestExtension(t *testing.T) {
	d, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	o, _ := d.Operation("createChatCompletion")
	cases, err := Cases(o, examplesOf(o.ID)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		switch {
		case c.Field == "min_p", strings.HasSuffix(c.Field, "reasoning_content"):
			if !c.Extension || c.must(false) {
				t.Errorf("%s binds all", c.Name)
			}
		case c.Field == "temperature" && c.Rule == openapi.RuleType:
			if c.Extension || !c.must(false) {
				t.Errorf("%s binds nobody", c.Name)
			}
		case c.Field == "messages" && c.Rule == openapi.RuleLength, c.Field == "stop[]" && c.Rule == openapi.RuleLength:
			if c.must(false) != (c.Name == "messages: "+tooFew) {
				t.Errorf("%s: %v", c.Name, c.must(false))
			}
		}
	}
}

// TestOffered tells a server that lacks an operation from one that lacks a model.
func TestOffered(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       Outcome
	}{
		{"no such path", `{"detail":"Not Found"}`, 404, NotOffered},
		{"no such model", `{"error":{"message":"model 'm' not found"}}`, 404, Pass},
		{"a bad body", `{"error":{"message":"messages is required"}}`, 400, Pass},
		{"another method", ``, 405, NotOffered},
	} {
		target := stubbed(t, func(r *http.Request) (*http.Response, error) {
			if body, _ := io.ReadAll(r.Body); !bytes.Contains(body, []byte(`"model":"m"`)) {
				t.Errorf("%s: asked with %s", tt.name, body)
			}
			return answerWith(tt.status, tt.body), nil
		})
		target.Models.Text = "m"
		one := Scenario{Name: "openai/chat/x", Operation: "createChatCompletion", Run: func(*Trial) {}}
		if got := Run(t.Context(), target, []Scenario{one}, Options{}).Results[0]; got.Outcome != tt.want {
			t.Errorf("%s: %s %s, want %s", tt.name, got.Outcome, got.Reason, tt.want)
		}
	}
}

// TestWatchersAlone asks for the replies that the chosen scenarios judge, if no other does.
func TestWatchersAlone(t *testing.T) {
	streams := 0
	target := stubbed(t, func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"stream":true`)) {
				streams++
			}
		}
		return answerWith(200, "{}", "Content-Type", "application/json"), nil
	})
	target.Models.Text = "m"
	chat := watching(t, chatOf(t, target), aspectRequired)
	models, _ := target.Documents.OpenAI.Operation("listModels")
	list := watchers(OpenAI, models)
	i := slices.IndexFunc(list, func(s Scenario) bool { return strings.HasSuffix(s.Name, aspectRequired.name) })
	report := Run(t.Context(), target, []Scenario{chat, list[i]}, Options{})
	if len(report.Results) != 2 || report.Count(Fail) != 2 || streams == 0 {
		t.Errorf("%+v, %d streams", report.Results, streams)
	}
}
