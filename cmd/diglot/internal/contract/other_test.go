package contract

import (
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/openapi/conformance"
)

// TestOtherReplies runs the kit against servers whose replies differ from this server's, and
// keep the vendors' promises.
func TestOtherReplies(t *testing.T) {
	var replies atomic.Int64
	cached := func(message map[string]any) {
		usage, _ := message["usage"].(map[string]any)
		if n, ok := usage["input_tokens"].(float64); ok && n > 3 {
			read := float64(replies.Add(1) % int64(n-1))
			usage["input_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"] = n-read-1, read, 1.0
		}
	}
	more := func(o map[string]any) {
		o["service_tier"], o["obfuscation"] = "default", "aXw4"
		if usage, ok := o["usage"].(map[string]any); ok {
			usage["server_tool_use"] = nil
		}
	}
	for _, tt := range []struct {
		name      string
		scenarios *regexp.Regexp
		put       func(*reply)
	}{
		{"input from the cache", regexp.MustCompile(`^anthropic/messages/(usage|stream|unicode|turns|parallel|finish|context|text-)`), func(r *reply) {
			if r.path != "/v1/messages" {
				return
			}
			r.object(cached)
			r.events(func(e map[string]any) bool {
				cached(e)
				cached(child(e, "message"))
				return true
			})
		}},
		{"more members, events and comments", regexp.MustCompile(`^(openai/(chat|completions)|anthropic/messages)/(usage|stream|finish|identity|ids|tool-|stop|logprobs|unicode)`), func(r *reply) {
			if r.status != http.StatusOK {
				return
			}
			r.object(more)
			r.events(func(e map[string]any) bool {
				more(e)
				return true
			})
			r.frames(func(frames []string) []string {
				var out []string
				for i, f := range frames {
					out = append(out, ": still here", f)
					if r.path == "/v1/messages" && i < len(frames)-1 {
						out = append(out, "event: ping\ndata: {\"type\":\"ping\"}")
					}
				}
				return out
			})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			report := judged(t, tt.put, tt.scenarios.MatchString)
			for _, r := range report.Results {
				for _, f := range r.Failures {
					t.Errorf("%s: %s", r.Name, f.Message)
				}
			}
			if report.Count(conformance.Pass) < 30 {
				t.Errorf("only %d scenarios pass", report.Count(conformance.Pass))
			}
		})
	}
}
