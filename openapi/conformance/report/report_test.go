package report

import (
	"bytes"
	"encoding/json/v2"
	"encoding/xml"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

var update = flag.Bool("update", false, "write the golden files")

// sample has a result of each kind.
func sample() Summary {
	result := func(name string, o conformance.Outcome, reason string, failures ...conformance.Failure) conformance.Result {
		return conformance.Result{
			Scenario: conformance.Scenario{Name: name, About: "A promise.", Operation: "createChatCompletion"},
			Outcome:  o, Reason: reason, Failures: failures, Duration: 1500 * time.Millisecond,
		}
	}
	exchange := &conformance.Exchange{
		Method: "POST", URL: "http://127.0.0.1:1/v1/chat/completions", Path: "/v1/chat/completions",
		Sent: http.Header{"Authorization": {"Bearer sk-secret"}}, Request: []byte(`{"seed":"it's"}`),
		Status: 400, Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte("{\"error\":\"<b> `sk-secret` \x1b[2J\u202e\xff\"}\n"), Err: errors.New("unexpected EOF"),
	}
	return Summary{
		Report: conformance.Report{Results: []conformance.Result{
			result("openai/chat/ids/unique", conformance.Pass, ""),
			result("openai/chat/field/messages[role=user].content[]", conformance.Fail, "", conformance.Failure{Message: "wrong | value", Document: "400, and the error names seed", Exchange: exchange}),
			result("openai/chat/known", conformance.Fail, "", conformance.Failure{Message: "no reply"}),
			result("anthropic/messages/turns", conformance.Skipped, "the model gives no text"),
			result("anthropic/messages/other", conformance.NotOffered, "404 Not Found"),
		}},
		Server: "http://127.0.0.1:1", Models: conformance.Models{Text: "m"}, Profile: openapi.ProfileDefault,
		Date: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), Secrets: []string{"", "sk-secret"},
		Baseline: Baseline{"openai/chat/known": "not yet done"},
	}
}

func TestOutputs(t *testing.T) {
	s := sample()
	for _, tt := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{"text.txt", func(b *bytes.Buffer) error { return s.Text(b) }},
		{"junit.xml", func(b *bytes.Buffer) error { return s.JUnit(b) }},
		{"markdown.md", func(b *bytes.Buffer) error { return s.Markdown(b) }},
		{"report.json", func(b *bytes.Buffer) error { return s.JSON(b) }},
		{"badge.svg", func(b *bytes.Buffer) error { return s.Badge(b) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got bytes.Buffer
			if err := tt.write(&got); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", tt.name)
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, never := range []string{"sk-secret", "\x1b", "\u202e"} {
				if strings.Contains(got.String(), never) {
					t.Errorf("%q is in it", never)
				}
			}
		})
	}
}

// TestFormats reads the outputs as other programs do.
func TestFormats(t *testing.T) {
	var text bytes.Buffer
	if err := sample().JUnit(&text); err != nil {
		t.Fatal(err)
	}
	var suites junitSuites
	if err := xml.Unmarshal(text.Bytes(), &suites); err != nil || suites.Tests != 5 || suites.Failures != 1 || suites.Skipped != 3 {
		t.Errorf("JUnit: %v, %d tests, %d failures, %d skipped", err, suites.Tests, suites.Failures, suites.Skipped)
	}
	text.Reset()
	if err := sample().JSON(&text); err != nil {
		t.Fatal(err)
	}
	var object jsonSummary
	if err := json.Unmarshal(text.Bytes(), &object); err != nil || object.Failed != 2 || len(object.Results) != 5 {
		t.Errorf("JSON: %v, %d failed, %d results", err, object.Failed, len(object.Results))
	}
}

func TestLink(t *testing.T) {
	for _, tt := range []struct{ docs, name, operation, want string }{
		{"", "openai/chat/ids/unique", "createChatCompletion", "/docs/openai/createChatCompletion.html"},
		{"https://h/ref", "openai/chat/field/messages[role=user].content[type=text].text", "createChatCompletion",
			"https://h/ref/openai/createChatCompletion.html#body-messages-role-user-content-type-text-text"},
		{"", "anthropic/messages/field/body", "createMessage", "/docs/anthropic/createMessage.html"},
		{"", "openai/http/no-html", "", ""},
	} {
		if got := (Summary{Docs: tt.docs}).Link(conformance.Scenario{Name: tt.name, Operation: tt.operation}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestLong cuts before it cleans and quotes, and leaves no part of a secret at the cut.
func TestLong(t *testing.T) {
	s := Summary{Secrets: []string{"sk-secret", "sk-secret-too"}}
	body := bytes.Repeat([]byte("'"), 1000)
	copy(body[90:], "sk-secret-too")
	for _, x := range []*conformance.Exchange{
		{Method: "POST", Request: body, Body: body},
		(&conformance.Exchange{Method: "POST", Request: body, Body: body}).Start(100),
	} {
		out := s.show(conformance.Failure{Message: string(body), Exchange: x}, 100)
		for name, text := range map[string]string{"message": out.Message, "reply": out.Reply, "curl": out.Curl} {
			if strings.Contains(text, "sk-") || len(text) > 130 || !strings.Contains(text, "1kB") && name != "curl" {
				t.Errorf("%s: %s", name, text)
			}
		}
	}
	x := &conformance.Exchange{Method: "POST", Request: bytes.Repeat(body, 1<<14)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.show(conformance.Failure{Exchange: x}, 100)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes of memory for a long request", n)
	}
	if text := s.reason(string(body)); len(text) > 400 {
		t.Errorf("the reason has %d bytes", len(text))
	}
}
