package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/replay/fault"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
)

const (
	responses = `{"model":"any","stream":true,"input":"Never recorded."}`
	legacy    = `{"model":"any","stream":true,"prompt":"Never recorded."}`
)

// TestStatus holds that an error has the envelope of its style, and the document's type and
// code where the document has the status.
func TestStatus(t *testing.T) {
	base := plain(t, Config{})
	for _, tt := range []struct {
		path, body, fault string
		status            int
		retry             string
		want              string // in the body
	}{
		{"/v1/chat/completions", chat, "status=503;retry-after=2", 503, "2", `"code":"overloaded"`},
		{"/v1/chat/completions", chat, "status=503", 503, "5", `"code":"overloaded"`},
		{"/v1/chat/completions", chat, "status=503;retry-after=none", 503, "", `"code":"overloaded"`},
		{"/v1/chat/completions", chat, "status=503;retry-after=0", 503, "0", `"code":"overloaded"`},
		{"/v1/chat/completions", chat, "status=500;retry-after=7", 500, "7", `"type":"server_error"`},
		{"/v1/messages", messages, "status=429;retry-after=none", 429, "", `"type":"rate_limit_error"`},
		{"/v1/chat/completions", chat, "status=429;retry-after=1", 429, "1", `"type":"requests","param":null,"code":"rate_limit_exceeded"}}`},
		{"/v1/embeddings", `{"model":"m","input":"x"}`, "status=429", 429, "5", `"code":"rate_limit_exceeded"`},
		{"/v1/chat/completions", chat, "status=500", 500, "", `"type":"server_error"`},
		{"/v1/chat/completions", chat, "status=401", 401, "", `"code":"invalid_api_key"`},
		{"/v1/chat/completions", chat, "status=418", 418, "", `"type":"invalid_request_error"`},
		{"/v1/embeddings", `{"model":"m","input":"x"}`, "status=502", 502, "", `"code":"engine_crashed"`},
		{"/v1/messages", messages, "status=529", 529, "5", `"type":"overloaded_error"`},
		{"/v1/messages", messages, "status=429;retry-after=3", 429, "3", `{"type":"error","error":{"type":"rate_limit_error"`},
		{"/v1/messages/count_tokens", messages, "status=429", 429, "5", `"request_id":"req_`},
		{"/v1/messages", messages, "status=504", 504, "", `"type":"timeout_error"`},
		{"/v1/messages", "not even JSON", "status=500", 500, "", `"type":"api_error"`},
	} {
		got := post(t, base, tt.path, tt.body, tt.fault)
		if got.status != tt.status || got.header.Get("Retry-After") != tt.retry || got.source() != "fault" || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s of %s: %+v", tt.fault, tt.path, got)
		}
	}
	if got := post(t, base, "/v1/chat/completions", chat, "status=500;no-retry"); got.header.Get("X-Should-Retry") != "false" {
		t.Errorf("no-retry: %+v", got)
	}
	if got := send(t, base, "GET", "/v1/models", http.Header{fault.Header: {"status=503"}}, ""); got.status != 503 {
		t.Errorf("models: %+v", got)
	}
	if got := post(t, base, "/v1/chat/completions", chat, "explode"); got.status != 400 || !strings.Contains(got.body, "The header Diglot-Fault is wrong") {
		t.Errorf("an unknown fault: %+v", got)
	}
}

// plain starts a server whose replies need not fit the documents.
func plain(t *testing.T, c Config) string {
	t.Helper()
	c.Handlers.Log = slog.New(slog.DiscardHandler)
	handler, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(handler)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.Close)
	return s.URL
}

// TestErrorInStream holds that an error within a stream has the dialect of its operation,
// which the contract judges, and comes behind as many deltas as were asked for.
func TestErrorInStream(t *testing.T) {
	base := serve(t, Config{})
	for _, tt := range []struct{ path, body, delta, end string }{
		{"/v1/chat/completions", chatSSE, `"content":"`, `data: {"error":{`},
		{"/v1/completions", legacy, `"text":"`, `data: {"error":{`},
		{"/v1/responses", responses, "event: response.output_text.delta", "event: error"},
		{"/v1/messages", stream, "event: content_block_delta", "event: error"},
	} {
		got := post(t, base, tt.path, tt.body, "error=overloaded;after=4")
		deltas := strings.Count(got.body, tt.delta)
		if tt.path == "/v1/chat/completions" {
			deltas-- // the first chunk has the role
		}
		if got.status != 200 || deltas != 4 || !strings.Contains(got.body, tt.end) || strings.Contains(got.body, "[DONE]") || got.err != nil {
			t.Errorf("%s: %d deltas, %+v", tt.path, deltas, got)
		}
		if got := post(t, base, tt.path, tt.body, "error=engine_crashed;after=0"); got.status != 502 {
			t.Errorf("%s: an error before the first delta: %+v", tt.path, got)
		}
		if got := post(t, base, tt.path, strings.Replace(tt.body, `"stream":true`, `"stream":false`, 1), "error"); got.status != 500 {
			t.Errorf("%s: an error of a whole reply: %+v", tt.path, got)
		}
	}
	document := plain(t, Config{Handlers: handlers.Config{Profile: openapi.ProfileDocument}})
	if got := post(t, document, "/v1/messages", stream, "error"); got.err == nil {
		t.Errorf("by the document a message breaks off, and the reply is %+v", got)
	}
	if got := post(t, base, "/v1/embeddings", `{"model":"m","input":"x"}`, "error=overloaded"); got.status != 503 {
		t.Errorf("embeddings: %+v", got)
	}
}

// TestCut holds where connections break.
func TestCut(t *testing.T) {
	recordings := NewRecordings(nil, embedded(t))
	base := plain(t, Config{Recordings: func() *Recordings { return recordings }})
	const recorded = `{"model":"scripted","stream":true,"messages":[{"role":"user","content":"Hello"}]}`
	for _, tt := range []struct {
		name, path, body, fault string
		source                  string
		events, bytes           int // -1: no reply at all
	}{
		{"before the headers", "/v1/chat/completions", chat, "cut", "", -1, 0},
		{"behind two events", "/v1/chat/completions", chatSSE, "cut;after=2", "mock", 2, 0},
		{"of a recording", "/v1/chat/completions", recorded, "cut;after=2", "recorded", 2, 0},
		{"behind bytes", "/v1/messages", messages, "cut;bytes=20", "mock", 0, 20},
		{"behind bytes of a stream", "/v1/messages", stream, "cut;bytes=700", "mock", 0, 700},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, base, tt.path, tt.body, tt.fault)
			switch {
			case got.err == nil:
				t.Errorf("a whole reply: %+v", got)
			case tt.events < 0:
				if got.status != 0 {
					t.Errorf("a reply: %+v", got)
				}
			case !strings.HasPrefix(got.source(), tt.source):
				t.Errorf("from %q", got.source())
			case tt.bytes > 0 && len(got.body) != tt.bytes, tt.events > 0 && strings.Count(got.body, "\n\n") != tt.events:
				t.Errorf("%d bytes: %s", len(got.body), got.body)
			}
		})
	}
}

// TestRubbish holds that a client gets what it cannot read, once.
func TestRubbish(t *testing.T) {
	base := plain(t, Config{})
	if got := post(t, base, "/v1/messages", messages, "rubbish"); got.status != 200 || json.Valid([]byte(got.body)) || got.err != nil {
		t.Errorf("%+v", got)
	}
	if got := post(t, base, "/v1/messages", stream, "rubbish;after=2"); !strings.Contains(got.body, "event: content_block_delta\ndata: {\"delta\":\n\n") {
		t.Errorf("the event has lost its name: %s", got.body)
	}
	got := post(t, base, "/v1/chat/completions", chatSSE, "rubbish;after=2")
	bad := 0
	for i, frame := range strings.Split(strings.TrimSuffix(got.body, "\n\n"), "\n\n") {
		data := strings.TrimPrefix(frame, "data: ")
		if data != "[DONE]" && !json.Valid([]byte(data)) {
			if bad++; i != 2 {
				t.Errorf("event %d: %s", i, data)
			}
		}
	}
	if bad != 1 {
		t.Errorf("%d events are rubbish:\n%s", bad, got.body)
	}
}

// TestWaits holds how long replies take, by a clock that only waiting moves.
func TestWaits(t *testing.T) {
	for _, tt := range []struct {
		name, path, body, fault string
		pace                    time.Duration
		want                    time.Duration
		in                      string // the body
	}{
		{"slow", "/v1/chat/completions", chatSSE, "slow=9", 0, 9 * time.Second, ": keep-alive\n"},
		{"slow, and whole", "/v1/messages", messages, "slow=9", 0, 9 * time.Second, "Never recorded."},
		{"slow, and an error", "/v1/messages", messages, "slow=9, status=500", 0, 9 * time.Second, "api_error"},
		{"a stall behind the last event", "/v1/messages", stream, "stall=9;after=9999", 0, 9 * time.Second, "message_stop"},
		{"slow embeddings", "/v1/embeddings", `{"model":"m","input":"x"}`, "slow=2.5", 0, 2500 * time.Millisecond, "embedding"},
		{"a stall", "/v1/messages", stream, "stall=9;after=2", 0, 9 * time.Second, "message_stop"},
		{"a stall of a whole reply", "/v1/messages", messages, "stall=9", 0, 9 * time.Second, "Never recorded."},
		{"a pace", "/v1/completions", `{"model":"m","prompt":"p","stream":true,"max_tokens":4}`, "", time.Second, 5 * time.Second, "[DONE]"},
		{"at once", "/v1/completions", `{"model":"m","prompt":"p","stream":true,"max_tokens":4}`, "", 0, 0, "[DONE]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			handler, err := New(Config{Handlers: handlers.Config{Log: slog.New(slog.DiscardHandler)}, Pace: tt.pace})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r := httptest.NewRequestWithContext(t.Context(), "POST", tt.path, strings.NewReader(tt.body))
				r.Host = "localhost"
				if tt.fault != "" {
					r.Header.Set(fault.Header, tt.fault)
				}
				w := httptest.NewRecorder()
				start := time.Now()
				handler.ServeHTTP(w, r)
				if took := time.Since(start); took != tt.want || w.Code != 200 && !strings.Contains(tt.fault, "status") || !strings.Contains(w.Body.String(), tt.in) {
					t.Errorf("took %v: %d %s", took, w.Code, w.Body)
				}
				if strings.HasPrefix(tt.fault, "stall") && strings.Contains(w.Body.String(), "keep-alive") {
					t.Error("a keep-alive came during the stall")
				}
			})
		})
	}
}

// TestStallUntilTheClientLeaves holds that such a stall ends with the client, or at its
// limit by breaking the connection, and that its place is free again.
func TestStallUntilTheClientLeaves(t *testing.T) {
	base := plain(t, Config{})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, "POST", base+"/v1/messages", strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(fault.Header, "stall;after=1")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	lines := bufio.NewReader(reply.Body)
	if line, err := lines.ReadString('\n'); line != "event: message_start\n" {
		t.Errorf("the first event: %q, %v", line, err)
	}
	leave()
	if _, err := io.Copy(io.Discard, lines); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}

	handler, err := New(Config{Handlers: handlers.Config{Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if cause := recover(); cause != http.ErrAbortHandler {
				t.Errorf("recovered %v", cause)
			}
		}()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages", strings.NewReader(messages))
		r.Host = "localhost"
		r.Header.Set(fault.Header, "stall")
		handler.ServeHTTP(httptest.NewRecorder(), r)
	})
}

// TestWaitingIsLimited holds that only so many requests wait, and that they leave.
func TestWaitingIsLimited(t *testing.T) {
	handler, err := New(Config{Handlers: handlers.Config{Log: slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ask := func() int {
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/messages", strings.NewReader(messages))
			r.Host = "localhost"
			r.Header.Set(fault.Header, "stall=60")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			return w.Code
		}
		for range maxWaiting {
			go ask()
		}
		synctest.Wait()
		if status := ask(); status != 529 {
			t.Errorf("one more gets %d", status)
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if status := ask(); status != 200 {
			t.Errorf("later one gets %d", status)
		}
	})
}

// TestRulesOverHTTP is what a client that retries sees.
func TestRulesOverHTTP(t *testing.T) {
	rules, err := fault.Load([]byte("faults: [{fault: status=503;retry-after=1, path: /v1/chat/*, model: flaky, times: 2}]"))
	if err != nil {
		t.Fatal(err)
	}
	base := plain(t, Config{Faults: rules})
	flaky := strings.Replace(chat, `"any"`, `"flaky"`, 1)
	for i, want := range []int{503, 503, 200, 200} {
		if got := post(t, base, "/v1/chat/completions", flaky); got.status != want {
			t.Errorf("request %d: %d, want %d", i+1, got.status, want)
		}
	}
	if got := post(t, base, "/v1/chat/completions", chat); got.status != 200 {
		t.Errorf("another model: %d", got.status)
	}
}

// TestModelNames holds what is served and what is listed.
func TestModelNames(t *testing.T) {
	base := serve(t, Config{Models: []string{"gpt-5"}})
	if got := send(t, base, "GET", "/v1/models", nil, ""); !strings.Contains(got.body, `"id":"gpt-5"`) || got.source() != "mock" {
		t.Errorf("%+v", got)
	}
	for model, want := range map[string]int{"any": 200, "gpt-5": 200, "missing": 404} {
		if got := post(t, base, "/v1/messages", strings.Replace(messages, `"any"`, `"`+model+`"`, 1)); got.status != want {
			t.Errorf("%s: %d", model, got.status)
		}
	}
	only := serve(t, Config{Models: []string{"gpt-5"}, OnlyModels: true})
	if got := post(t, only, "/v1/messages", messages); got.status != 404 {
		t.Errorf("a name that is not listed: %d", got.status)
	}
}

// TestLargeBodies holds that a body which is too large to compare arrives whole.
func TestLargeBodies(t *testing.T) {
	base := serve(t, Config{})
	for _, size := range []int{maxCompared - 100, maxCompared, maxCompared + 1, 3 * maxCompared} {
		body := strings.Replace(`{"model":"any","max_tokens":9,"system":"S","messages":[{"role":"user","content":"x"}]}`, `"S"`, `"`+strings.Repeat("s", size)+`"`, 1)
		got := post(t, base, "/v1/messages/count_tokens", strings.Replace(body, `"max_tokens":9,`, "", 1))
		if size > 900_000 && got.status != 400 || !strings.Contains(got.body, "prompt is too long") {
			t.Errorf("%d bytes: %d %.200s", size, got.status, got.body)
		}
	}
}
