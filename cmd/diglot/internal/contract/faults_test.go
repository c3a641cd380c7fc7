package contract

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

// mistake is one thing that servers get wrong, put into good replies.
type mistake struct {
	name string
	path string // of the replies; empty: all
	put  func(*reply)
	want string   // the scenario that must fail
	with []string // further scenarios, whose replies the wanted one judges
}

func faults() []mistake {
	return slices.Concat(envelopeFaults(), errorFaults(), chatFaults(), streamFaults(), completionFaults(), responseFaults(), messageFaults(), embeddingFaults(), imageFaults())
}

const (
	chatPath       = "/v1/chat/completions"
	completionPath = "/v1/completions"
	responsePath   = "/v1/responses"
	messagePath    = "/v1/messages"
)

// envelopeFaults are faults of any reply.
func envelopeFaults() []mistake {
	plain, stream := []string{"openai/chat/usage/sum"}, []string{"openai/chat/stream/same-text"}
	choice := func(change func(map[string]any)) func(*reply) {
		return func(r *reply) { r.object(func(o map[string]any) { change(child(o, "choices", 0)) }) }
	}
	top := func(name string, value any) func(*reply) {
		return func(r *reply) { r.object(func(o map[string]any) { o[name] = value }) }
	}
	return []mistake{
		{"a required field is missing", chatPath, choice(func(c map[string]any) { delete(c, "finish_reason") }), "openai/chat/reply-required-fields", plain},
		{"a field that nobody knows", chatPath, choice(func(c map[string]any) { c["text_length"] = 3 }), "openai/chat/reply-undocumented-fields", plain},
		{"created is a string", chatPath, top("created", "1795956807"), "openai/chat/reply-field-types", plain},
		{"a count is a fraction", chatPath, func(r *reply) {
			r.object(func(o map[string]any) { child(o, "usage")["prompt_tokens"] = 12.5 })
		}, "openai/chat/reply-field-types", plain},
		{"an object of another name", chatPath, top("object", "completion"), "openai/chat/reply-values", plain},
		{"a field comes twice", chatPath, func(r *reply) { r.body = bytes.Replace(r.body, []byte(`{`), []byte(`{"id":"x",`), 1) }, "openai/chat/reply-json", plain},
		{"JSON as plain text", chatPath, func(r *reply) { r.header.Set("Content-Type", "text/plain") }, "openai/chat/reply-content-type", plain},
		{"201 for 200", chatPath, func(r *reply) { r.status = http.StatusCreated }, "openai/chat/reply-status", []string{"openai/chat/examples"}},
		{"escapes for HTML", chatPath, func(r *reply) {
			r.body = bytes.ReplaceAll(r.body, []byte(`"content":"`), []byte(`"content":"\u003c`))
		}, "openai/chat/reply-plain-characters", plain},
		{"no request id", "", func(r *reply) { r.header.Del("X-Request-Id"); r.header.Del("Request-Id") }, "openai/http/request-ids", nil},
		{"the same request id again", "", func(r *reply) { r.header.Set("X-Request-Id", "req_1"); r.header.Set("Request-Id", "req_1") }, "anthropic/http/request-ids", nil},
		{"a header comes twice", chatPath, func(r *reply) { r.header.Add("X-Request-Id", "another") }, "openai/chat/reply-headers", plain},
		{"a stream without its last blank line", chatPath, func(r *reply) {
			if r.streamed() {
				r.body = bytes.TrimSuffix(r.body, []byte("\n"))
			}
		}, "openai/chat/stream-frames", stream},
		{"events without names", responsePath, func(r *reply) {
			r.body = regexp.MustCompile(`(?m)^event: .*\n`).ReplaceAll(r.body, nil)
		}, "openai/responses/stream-events", []string{"openai/responses/stream/same-text"}},
		{"an event that nobody knows", responsePath, func(r *reply) {
			r.frames(func(all []string) []string {
				return slices.Insert(all, 1, "event: response.heartbeat\ndata: {\"type\":\"response.heartbeat\"}")
			})
		}, "openai/responses/stream-events", []string{"openai/responses/stream/same-text"}},
	}
}

// errorFaults are faults of errors and of what is around operations.
func errorFaults() []mistake {
	invalid := func(change func(*reply)) func(*reply) {
		return func(r *reply) {
			if r.status >= 400 {
				change(r)
			}
		}
	}
	listed := func(change func([]any) []any) func(*reply) {
		return func(r *reply) {
			r.object(func(o map[string]any) { list, _ := o["data"].([]any); o["data"] = change(list) })
		}
	}
	return []mistake{
		{"500 for a bad body", chatPath, invalid(func(r *reply) { r.status = 500 }), "openai/chat/body-not-json", nil},
		{"200 for a bad body", messagePath, invalid(func(r *reply) { r.status = 200 }), "anthropic/messages/body-not-json", nil},
		{"an error as plain text", chatPath, invalid(func(r *reply) {
			r.body = []byte("bad request")
			r.header.Set("Content-Type", "text/plain")
		}), "openai/chat/body-not-json", nil},
		{"an error without its type", messagePath, invalid(func(r *reply) {
			r.body = regexp.MustCompile(`"type":"[a-z_]+_error",?`).ReplaceAll(r.body, nil)
		}), "anthropic/messages/body-not-json", nil},
		{"an error of no known type", chatPath, invalid(func(r *reply) {
			r.body = bytes.Replace(r.body, []byte("invalid_request_error"), []byte("oops_error"), 1)
		}), "openai/chat/error-kinds", []string{"openai/chat/body-not-json"}},
		{"an error that names another field", chatPath, invalid(func(r *reply) {
			r.body = bytes.ReplaceAll(r.body, []byte("temperature"), []byte("warmth"))
		}), "openai/chat/field/temperature", nil},
		{"a wrong value is taken", messagePath, invalid(func(r *reply) { r.status = 200 }), "anthropic/messages/field/temperature", nil},
		{"a page of HTML", "", invalid(func(r *reply) { r.header.Set("Content-Type", "text/html"); r.body = []byte("<html></html>") }), "openai/http/no-html", nil},
		{"405 without Allow", "", invalid(func(r *reply) { r.header.Del("Allow") }), "openai/chat/method-get", nil},
		{"a redirect", "", invalid(func(r *reply) { r.status = 301; r.header.Set("Location", chatPath) }), "openai/http/redirects", nil},
		{"no CORS", "", func(r *reply) { r.header.Del("Access-Control-Allow-Origin") }, "openai/http/preflight", nil},
		{"a list without the model", "/v1/models", listed(func([]any) []any { return []any{} }), "openai/models/lists-the-model", nil},
		{"a model is listed twice", "/v1/models", listed(func(all []any) []any { return append(all, all...) }), "openai/models/lists-once", nil},
	}
}

func TestFaults(t *testing.T) {
	good := mockServer(t)
	for _, f := range faults() {
		t.Run(f.want+" finds "+f.name, func(t *testing.T) {
			target := serve(t, proxy(good, func(r *reply) {
				if f.path == "" || r.path == f.path {
					f.put(r)
				}
			}))
			all, err := scenarios(target)
			if err != nil {
				t.Fatal(err)
			}
			chosen := named(all, append(f.with, f.want)...)
			if len(chosen) != len(f.with)+1 {
				t.Fatalf("there are %v of them", names(chosen))
			}
			for _, r := range conformance.Run(t.Context(), target, chosen, conformance.Options{}).Results {
				if r.Name == f.want && r.Outcome != conformance.Fail {
					t.Errorf("it ends with: %s %s", r.Outcome, r.Reason)
				}
				for _, failure := range r.Failures {
					if failure.Stack != "" {
						t.Errorf("%s: %s\n%s", r.Name, failure.Message, failure.Stack)
					}
				}
			}
		})
	}
	if n := len(faults()); n < 40 {
		t.Errorf("only %d faults", n)
	}
}

// unsampled are the promises that an engine without a sampler or a vocabulary cannot keep.
var unsampled = regexp.MustCompile(`/(choices/greedy-alike|logit-bias/.*|seed/others-differ|sampling/differs|unicode/input)$`)

// TestNoFault holds that none of the scenarios that find faults fails without one.
func TestNoFault(t *testing.T) {
	target := serve(t, proxy(mockServer(t), func(*reply) {}))
	all, err := scenarios(target)
	if err != nil {
		t.Fatal(err)
	}
	chosen := slices.DeleteFunc(all, func(s conformance.Scenario) bool {
		return unsampled.MatchString(s.Name) || strings.Contains(s.Name, "/field/")
	})
	for _, r := range conformance.Run(t.Context(), target, chosen, conformance.Options{Parallel: 4}).Results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s\n%s", r.Name, f.Message, f.Exchange.Curl())
		}
		if r.Outcome == conformance.Skipped {
			t.Logf("%s: skipped: %s", r.Name, r.Reason)
		}
	}
}
