package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want Fault
	}{
		{"status=503", Fault{Status: &Status{Code: 503}}},
		{"status=429;retry-after=2;no-retry", Fault{Status: &Status{Code: 429, RetryAfter: "2", NoRetry: true}}},
		{"status=503;retry-after=0", Fault{Status: &Status{Code: 503, RetryAfter: "0"}}},
		{"status=503;retry-after=none", Fault{Status: &Status{Code: 503, RetryAfter: NoHeader}}},
		{"error", Fault{Error: &Error{Code: engine.CodeInternal, After: 3}}},
		{"error=overloaded;after=0", Fault{Error: &Error{Code: engine.CodeOverloaded}}},
		{"slow=0.5", Fault{Slow: time.Second / 2}},
		{"stall", Fault{Stall: &Stall{}}},
		{"stall=10;after=2", Fault{Stall: &Stall{For: 10 * time.Second, After: 2}}},
		{"cut;bytes=100", Fault{Cut: &Cut{Bytes: 100}}},
		{"slow=1, cut;after=5", Fault{Slow: time.Second, Cut: &Cut{After: 5}}},
		{"rubbish;after=1", Fault{Rubbish: &Rubbish{After: 1}}},
		{"", Fault{}},
	} {
		got, err := Parse(tt.in)
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		} else if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.in, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"status":                    "status wants a number, as in status=503",
		"status=200":                "status wants a whole number from 400 to 599 for its value",
		"status=5.5":                "status wants a whole number",
		"status=503;retry-after=-1": "from 0 to 86400 for retry-after",
		"status=503;retry-after=no": "from 0 to 86400 for retry-after",
		"status=503;retry-after":    "from 0 to 86400 for retry-after",
		"status=503;wait=1":         "status has no parameter wait",
		"status=503;no-retry=1":     "wants no value for no-retry",
		"error=unheard":             "error wants one of internal, overloaded",
		"slow":                      "slow wants seconds, as in slow=2.5",
		"slow=0":                    "more than 0 and up to 600",
		"slow=1e9":                  "want a dictionary",
		"stall=601":                 "up to 600",
		"stall=-1":                  "more than 0",
		"cut=1":                     "cut has no value, only parameters",
		"cut;bytes=0":               "from 1 to",
		"explode":                   `"explode" is none of status, error`,
		"status=(503)":              "status has a list",
		"status=503; ;":             "want a dictionary",
		"status=503, error":         "status and error exclude each other",
	} {
		if f, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want an error with %q", in, f, err, want)
		}
	}
}

func TestRules(t *testing.T) {
	rules, err := Load([]byte(`
faults:
  - {fault: status=503, path: /v1/chat/*, model: busy, times: 2}
  - {fault: status=500, method: post, path: /v1/messages, request: 2}
  - {fault: cut, path: /v1/models/*}
  - {fault: stall, model: never, probability: 0}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		req  Request
		want int // status; 1: cut
	}{
		{Request{"POST", "/v1/chat/completions", "busy"}, 503},
		{Request{"POST", "/v1/chat/completions", "other"}, 0},
		{Request{"POST", "/v1/chat/completions", "busy"}, 503},
		{Request{"POST", "/v1/chat/completions", "busy"}, 0},
		{Request{"POST", "/v1/messages", "m"}, 0},
		{Request{"GET", "/v1/messages", "m"}, 0},
		{Request{"POST", "/v1/messages", "m"}, 500},
		{Request{"POST", "/v1/messages", "m"}, 0},
		{Request{"GET", "/v1/models/org/name", ""}, 1},
		{Request{"POST", "/v1/responses", "never"}, 0},
	} {
		got := 0
		switch f := rules.Pick(step.req); {
		case f != nil && f.Status != nil:
			got = f.Status.Code
		case f != nil && f.Cut != nil:
			got = 1
		}
		if got != step.want {
			t.Errorf("request %d, %+v: %d, want %d", i+1, step.req, got, step.want)
		}
	}
	var none *Rules
	if none.Pick(Request{}) != nil {
		t.Error("nil rules have a fault")
	}
}

// TestRulesCount holds that a rule counts the requests that another one takes.
func TestRulesCount(t *testing.T) {
	rules, err := Load([]byte(`
faults:
  - {fault: status=503, times: 1}
  - {fault: status=500, request: 2}
  - {fault: status=502, request: 2}
  - {fault: status=504, times: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{503, 500, 504, 0} {
		got := 0
		if f := rules.Pick(Request{}); f != nil {
			got = f.Status.Code
		}
		if got != want {
			t.Errorf("request %d: %d, want %d", i+1, got, want)
		}
	}
}

// TestProbability holds that the same seed fails the same requests.
func TestProbability(t *testing.T) {
	fired := func() (which []int) {
		rules, err := Load([]byte("seed: 7\nfaults: [{fault: status=500, probability: 0.25}]"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			if rules.Pick(Request{}) != nil {
				which = append(which, i)
			}
		}
		return which
	}
	first := fired()
	if len(first) < 150 || len(first) > 350 {
		t.Errorf("%d of 1000 requests fail, with a probability of a quarter", len(first))
	}
	if diff := cmp.Diff(first, fired()); diff != "" {
		t.Errorf("another run fails others\n%s", diff)
	}
}

func TestRulesRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "0 faults",
		"faults: []":                             "0 faults",
		"faults: [{}]":                           "fault 1: fault is missing",
		"faults: [{fault: status=503, x: 1}]":    "line 1: field x not found",
		"faults: [{fault: status=1}]":            "fault 1: status wants a whole number",
		"faults: [{fault: cut, path: '['}]":      "fault 1: path",
		"faults: [{fault: cut, probability: 2}]": "probability is from 0 to 1",
		"faults: [{fault: cut, times: -1}]":      "must not be negative",
		"faults: [{fault: cut}]\n---\nseed: 1":   "want one YAML document",
		"a: [":                                   "yaml",
	} {
		if _, err := Load([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}
