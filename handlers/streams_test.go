package handlers_test

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// step is an event, or an error, after a time.
type step struct {
	wait  time.Duration
	event engine.Event
	err   error
}

// slow plays steps, and stops when the client leaves.
type slow struct {
	engine.Engine // nothing else is asked
	steps         []step
	ended         chan struct{} // closed when the iteration is over
}

func (slow) Models(context.Context) ([]engine.Model, error) { return nil, nil }

func (s slow) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		defer close(s.ended)
		for _, step := range s.steps {
			select {
			case <-time.After(step.wait):
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
			if !yield(step.event, step.err) {
				return
			}
		}
	}
}

// stream posts a body whose reply may be aborted.
func stream(t *testing.T, h http.Handler, path, body string) (w *httptest.ResponseRecorder, aborted bool) {
	t.Helper()
	return streamTo(t.Context(), h, path, body)
}

func streamTo(ctx context.Context, h http.Handler, path, body string) (w *httptest.ResponseRecorder, aborted bool) {
	r := httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(body))
	r.Host = "localhost"
	w = httptest.NewRecorder()
	defer func() {
		cause := recover()
		if aborted = cause == http.ErrAbortHandler; cause != nil && !aborted {
			panic(cause)
		}
	}()
	h.ServeHTTP(w, r)
	return w, false
}

// TestSilence checks what a client receives while there are no events, and until when an
// error has a status.
func TestSilence(t *testing.T) {
	x := handlerstest.Text("x")
	steps := func(waits ...time.Duration) []step {
		var all []step
		for i, event := range x {
			s := step{event: event}
			if i < len(waits) {
				s.wait = waits[i] * time.Second
			}
			all = append(all, s)
		}
		return all
	}
	crash := &engine.Error{Code: engine.CodeEngineCrashed, Message: "Gone."}
	tests := []struct {
		name      string
		profile   openapi.Profile
		steps     []step
		openAI    string // what happens, a word for each frame
		anthropic string
	}{
		{
			name: "no silence", steps: steps(),
			openAI:    "chunk chunk chunk done",
			anthropic: "message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			name: "before the first event there are comments alone", steps: steps(13),
			openAI:    "# # chunk chunk chunk done",
			anthropic: "# # message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			name: "while the prompt is read", steps: steps(0, 9),
			openAI:    "chunk # chunk chunk done",
			anthropic: "message_start ping content_block_start content_block_delta content_block_stop message_delta message_stop",
		},
		{
			name: "in mid-text", steps: steps(0, 0, 9),
			openAI:    "chunk # # chunk chunk done",
			anthropic: "message_start content_block_start ping ping content_block_delta content_block_stop message_delta message_stop",
		},
		{
			name: "an error within four seconds has a status", steps: []step{{event: x[0]}, {wait: 3 * time.Second, err: crash}},
			openAI: "502", anthropic: "502",
		},
		{
			name: "a later one has none", steps: []step{{wait: 9 * time.Second, err: crash}},
			openAI: "# error", anthropic: "# error",
		},
		{
			name: "by the document it aborts", profile: openapi.ProfileDocument, steps: []step{{wait: 9 * time.Second, err: crash}},
			openAI: "# error", anthropic: "# aborted",
		},
	}
	for _, tt := range tests {
		for _, style := range styles {
			t.Run(tt.name+"/"+style.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHandler(t, handlers.Config{Engine: slow{steps: tt.steps, ended: make(chan struct{})}, Profile: tt.profile})
					w, aborted := stream(t, h, style.path, style.stream)
					want := tt.openAI
					if style.name == "anthropic" {
						want = tt.anthropic
					}
					if got := transcript(w, aborted); got != want {
						t.Errorf("%s\nwant %s\n%s", got, want, w.Body)
					}
				})
			})
		}
	}
}

// transcript is one word per frame.
func transcript(w *httptest.ResponseRecorder, aborted bool) string {
	if w.Code != 200 {
		return strconv.Itoa(w.Code)
	}
	var words []string
	for frame := range strings.SplitSeq(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n") {
		for strings.HasPrefix(frame, ":") {
			_, frame, _ = strings.Cut(frame, "\n")
			words = append(words, "#")
		}
		event, named := strings.CutPrefix(frame, "event: ")
		switch {
		case named:
			event, _, _ = strings.Cut(event, "\n")
			words = append(words, event)
		case frame == "": // comments alone: the reply was aborted
		case strings.HasPrefix(frame, "data: [DONE]"):
			words = append(words, "done")
		case strings.HasPrefix(frame, `data: {"error":`):
			words = append(words, "error")
		default:
			words = append(words, "chunk")
		}
	}
	if aborted {
		words = append(words, "aborted")
	}
	return strings.Join(words, " ")
}

// TestClientLeaves checks that work ends with the connection, streamed or not.
func TestClientLeaves(t *testing.T) {
	x := handlerstest.Text("x")
	for _, style := range styles {
		for name, body := range map[string]string{"whole": style.body, "streamed": style.stream} {
			t.Run(style.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := slow{steps: []step{{event: x[0]}, {event: x[1]}, {wait: time.Hour, event: x[2]}}, ended: make(chan struct{})}
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(10*time.Second, cancel)
					start := time.Now()
					streamTo(ctx, newHandler(t, handlers.Config{Engine: e}), style.path, body)
					<-e.ended
					if took := time.Since(start); took != 10*time.Second {
						t.Errorf("the work ended after %v, the client left after 10s", took)
					}
				})
			})
		}
	}
}

// TestCutAnswerIsLogged checks that the log reports how much there was of an unfinished
// answer.
func TestCutAnswerIsLogged(t *testing.T) {
	x := handlerstest.Text("x")
	for _, style := range styles {
		for name, body := range map[string]string{"whole": style.body, "streamed": style.stream} {
			t.Run(style.name+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log bytes.Buffer
					e := slow{steps: []step{{event: x[0]}, {event: x[1]}, {event: x[2]}, {event: x[2]}, {wait: time.Hour, event: x[3]}}, ended: make(chan struct{})}
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(10*time.Second, cancel)
					streamTo(ctx, newHandler(t, handlers.Config{Engine: e, Log: slog.New(slog.NewTextHandler(&log, nil))}), style.path, body)
					<-e.ended
					if !strings.Contains(log.String(), " deltas=2") || strings.Contains(log.String(), "prompt_tokens=0") {
						t.Errorf("the log is %s", &log)
					}
				})
			})
		}
	}
}

// TestStreamHeaders checks the headers for proxies.
func TestStreamHeaders(t *testing.T) {
	for _, style := range styles {
		w, _ := stream(t, newHandler(t, handlers.Config{}), style.path, style.stream)
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", style.name, name, got, want)
			}
		}
		if !w.Flushed {
			t.Errorf("%s: nothing was flushed", style.name)
		}
	}
}
