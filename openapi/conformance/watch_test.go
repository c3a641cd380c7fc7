package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi"
)

// chatOf is chat completions of a target, narrowed to the default profile.
func chatOf(t *testing.T, target *Target) *openapi.Operation {
	t.Helper()
	narrowed, err := target.Documents.Narrow(openapi.ProfileDefault)
	if err != nil {
		t.Fatal(err)
	}
	target.Documents = narrowed
	o, ok := narrowed.OpenAI.Operation("createChatCompletion")
	if !ok {
		t.Fatal("no such operation")
	}
	return o
}

// watching is the scenario of an aspect.
func watching(t *testing.T, o *openapi.Operation, a aspect) Scenario {
	t.Helper()
	all := watchers(OpenAI, o)
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == "openai/chat/"+a.name })
	if i < 0 {
		t.Fatalf("no scenario %s", a.name)
	}
	return all[i]
}

// TestOwnRules has a server whose replies break what the documents demand of diglot alone,
// and one that breaks what binds all.
func TestOwnRules(t *testing.T) {
	id := []string{"X-Request-Id", "0d2b8c1e-77aa-4b0c-9d7e-000000000001"}
	for _, tt := range []struct {
		name, reply    string
		status         int
		header         []string
		aspect         aspect
		marks, nomarks Outcome
	}{
		{"a field that diglot never sends", `{"system_fingerprint":"f"}`, 200, nil, aspectUnknown, Fail, Skipped},
		{"an unknown field", `{"mood":"good"}`, 200, nil, aspectUnknown, Fail, Skipped},
		{"another kind of request id", `{}`, 200, id, aspectHeaders, Fail, Skipped},
		{"another type of error", `{"error":{"message":"m","type":"rate_limit","param":null,"code":null}}`, 400, nil, aspectErrors, Fail, Skipped},
		{"its value", `{"error":{"message":"m","type":"rate_limit","param":null,"code":null}}`, 400, nil, aspectValues, Fail, Pass},
		{"a number that diglot never sends", `{"usage":{"prompt_tokens":-1}}`, 200, nil, aspectValues, Fail, Pass},
		{"escapes", `{"id":"\u003c"}`, 200, nil, aspectSpelling, Fail, Skipped},
		{"no id", `{}`, 200, nil, aspectRequired, Fail, Fail},
	} {
		for marks, want := range map[bool]Outcome{true: tt.marks, false: tt.nomarks} {
			target := stubbed(t, func(*http.Request) (*http.Response, error) {
				return answerWith(tt.status, tt.reply, append([]string{"Content-Type", "application/json"}, tt.header...)...), nil
			})
			target.Marks = marks
			o := chatOf(t, target)
			asks := Scenario{Name: "openai/chat/asks", Run: func(t *Trial) { t.Do(Request{Path: o.Path, Body: `{}`}) }}
			report := Run(t.Context(), target, []Scenario{asks, watching(t, o, tt.aspect)}, Options{})
			if got := report.Results[1]; got.Outcome != want {
				t.Errorf("%s, marks %v: %s %v, want %s", tt.name, marks, got.Outcome, got.Failures, want)
			}
		}
	}
}

// TestKeeps holds that the kit keeps of long bodies only the start, and of equal deviations
// only the one in the smallest exchange.
func TestKeeps(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	target := stubbed(t, func(*http.Request) (*http.Response, error) {
		return answerWith(200, `{"object":"`+long+`"}`, "Content-Type", "application/json"), nil
	})
	o := chatOf(t, target)
	asks := Scenario{Name: "openai/chat/asks", Run: func(t *Trial) {
		for _, body := range []string{long, "{}", long} {
			t.Errorf(t.Do(Request{Path: o.Path, Body: body}), "wrong")
		}
	}}
	report := Run(t.Context(), target, []Scenario{asks, watching(t, o, aspectValues)}, Options{})
	for _, r := range report.Results {
		for _, f := range r.Failures {
			if n := len(f.Exchange.Request) + len(f.Exchange.Body); n > 2*keptBody || f.Exchange.BodySize < 1<<20 {
				t.Errorf("%s: %d bytes are kept, and %d told", r.Name, n, f.Exchange.BodySize)
			}
		}
	}
	if all := report.Results[1].Failures; len(all) != 1 || string(all[0].Exchange.Request) != "{}" {
		t.Errorf("%d failures, want one with the smallest request", len(all))
	}
	target.kept = keptAll + 1
	if x := target.keep(&Exchange{Body: []byte(long)}); len(x.Body) != leastBody {
		t.Errorf("after many failures, %d bytes are kept", len(x.Body))
	}
}

// TestTooLong does not take the start of a reply for the whole.
func TestTooLong(t *testing.T) {
	target := stubbed(t, func(*http.Request) (*http.Response, error) {
		return answerWith(200, strings.Repeat(" ", maxReply+1)), nil
	})
	if x, err := target.exchange(t.Context(), Request{Path: "/v1/models"}); err != nil || x.Err == nil || len(x.Body) != maxReply {
		t.Errorf("%v, %v", err, x.Err)
	}
}

// TestKitPanics makes a fault of the kit a failure, and goes on.
func TestKitPanics(t *testing.T) {
	target := stubbed(t, func(*http.Request) (*http.Response, error) { return answer(200), nil })
	report := Run(t.Context(), target, []Scenario{
		{Name: "openai/a", Run: func(t *Trial) { t.Do(Request{Path: "/v1/models"}); var all []int; _ = all[len(all)] }},
		{Name: "openai/b", Run: func(*Trial) {}},
	}, Options{})
	first, second := report.Results[0], report.Results[1]
	if first.Outcome != Fail || first.Failures[0].Stack == "" || first.Failures[0].Exchange == nil || second.Outcome != Pass {
		t.Errorf("%s %v, then %s", first.Outcome, first.Failures, second.Outcome)
	}
}
