package upstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
)

func answerA(w http.ResponseWriter) { stream(w, says(`"content":"a"`), end("stop"), done) }

const saidA = `start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`

func TestRetries(t *testing.T) {
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, n int)
		tries  int
		code   engine.Code // empty: it succeeds
	}{
		{"at once", func(w http.ResponseWriter, _ int) { answerA(w) }, 1, ""},
		{"after two refusals", func(w http.ResponseWriter, n int) {
			if n < 3 {
				status(w, 503, `{"error":{"message":"Loading model"}}`)
				return
			}
			answerA(w)
		}, 3, ""},
		{"after a connection that was cut", func(w http.ResponseWriter, n int) {
			if n == 1 {
				panic(http.ErrAbortHandler)
			}
			answerA(w)
		}, 2, ""},
		{"not again and again where the server dies of it", func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) }, 2, engine.CodeEngineCrashed},
		{"never after the first event", func(w http.ResponseWriter, _ int) {
			stream(w, says(`"content":"a"`))
			panic(http.ErrAbortHandler)
		}, 1, engine.CodeEngineCrashed},
		{"not after an answer that cannot be read", func(w http.ResponseWriter, _ int) { status(w, 200, `{`) }, 1, engine.CodeEngineCrashed},
		{"a page", func(w http.ResponseWriter, _ int) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
		}, 1, engine.CodeEngineCrashed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, n int) { tt.answer(w, n) })
			events, err := gather(t.Context(), e, ask("u"))
			switch {
			case tt.code != "":
				if got := coded(t, err).Code; got != tt.code {
					t.Errorf("error %v, want %s", err, tt.code)
				}
			case err != nil || show(events) != saidA:
				t.Errorf("%s, %v", show(events), err)
			}
			if n := len(p.all()); n != tt.tries {
				t.Errorf("%d tries, want %d", n, tt.tries)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	untrusted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	tests := []struct {
		name, url, says string
		waits           int
		noRetry         bool
	}{
		{"nobody listens", "http://" + closed.Addr().String() + "/v1", "cannot be reached", 2, false},
		{"a certificate of nobody", untrusted.URL, "certificate", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := New(Config{BaseURL: tt.url, Model: "m", Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			waits := 0
			e.wait = func(context.Context, time.Duration) error { waits++; return nil }
			_, err = gather(t.Context(), e, ask("u"))
			got := coded(t, err)
			if got.Code != engine.CodeEngineCrashed || !strings.Contains(got.Message, tt.says) || got.NoRetry != tt.noRetry || waits != tt.waits {
				t.Errorf("%+v after %d waits", got, waits)
			}
		})
	}
}

// TestSilence has a server that sends nothing, or one event and then nothing
// but what the row says.
func TestSilence(t *testing.T) {
	tests := []struct {
		name   string
		config Config
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
		code   engine.Code
	}{
		{"no headers", Config{FirstByte: time.Millisecond}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			``, engine.CodeDeadline},
		{"no first byte", Config{FirstByte: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			stream(w)
			<-r.Context().Done()
		}, ``, engine.CodeDeadline},
		{"no second byte", Config{Idle: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
			stream(w, says(`"content":"a"`))
			<-r.Context().Done()
		}, `start:0 0.0[text "a"`, engine.CodeDeadline},
		{"comments alone", Config{FirstByte: 50 * time.Millisecond}, repeat(": life\n\n"), ``, engine.CodeDeadline},
		{"null alone", Config{FirstByte: 50 * time.Millisecond}, repeat("data: null\n\n"), ``, engine.CodeDeadline},
		{"chunks without choices", Config{FirstByte: 50 * time.Millisecond}, repeat(`data: {"choices":[]}` + "\n\n"), `start:0`, engine.CodeDeadline},
		{"choices without news", Config{FirstByte: 50 * time.Millisecond}, repeat("data: " + says(`"role":"assistant","content":""`) + "\n\n"), `start:0`, engine.CodeDeadline},
		{"progress that stays", Config{FirstByte: 50 * time.Millisecond}, repeat(`data: {"choices":[],"prompt_progress":{"total":5,"processed":1}}` + "\n\n"), `start:5`, engine.CodeDeadline},
		{"blanks alone", Config{FirstByte: 50 * time.Millisecond}, repeat(" "), ``, engine.CodeDeadline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, tt.config, func(w http.ResponseWriter, r *http.Request, _ int) { tt.answer(w, r) })
			checkReply(t, e, ask("u"), tt.want, tt.code)
			if n := len(p.all()); n > 1 {
				t.Errorf("%d tries", n)
			}
		})
	}
}

// TestLongValue has replies of one JSON value at and beyond their limit.
func TestLongValue(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		want  error
	}{{9, nil}, {8, errLong}} {
		r := readerReply(t, "")
		r.readWhole(bufio.NewReader(strings.NewReader(`{"a":"b"}`)), tt.limit)
		if !errors.Is(r.err, tt.want) || tt.want != nil && !unreadable(r.err) {
			t.Errorf("%d bytes: error %v", tt.limit, r.err)
		}
	}
}

// repeat answers with text a thousand times, unless the client leaves.
func repeat(text string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for range 1000 {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
}

// TestWholeValue has replies of one JSON value on a connection that stays open.
func TestWholeValue(t *testing.T) {
	const message = `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`
	for _, tt := range []struct {
		name, body, want string
		code             engine.Code
	}{
		{"a reply", message, saidA, ""},
		{"the mark of UTF-8", "\ufeff" + message + "\n", saidA, ""},
		{"an error", `{"error":{"message":"boom","code":500}}`, ``, engine.CodeEngineCrashed},
		{"values in a row", `{"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n" + message, ``, engine.CodeEngineCrashed},
		{"the first of values", `{"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n", `start:0 0.0[text "a"`, engine.CodeEngineCrashed},
		{"half a value", message[:20], ``, engine.CodeDeadline},
		{"text behind it", message + "oops", ``, engine.CodeEngineCrashed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{Idle: 200 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request, _ int) {
				_, _ = io.WriteString(w, tt.body)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			})
			checkReply(t, e, ask("u"), tt.want, tt.code)
		})
	}
}

// TestLastWords has servers that say all that counts, and then nothing, or
// nothing but noise: nobody waits as long as for an answer.
func TestLastWords(t *testing.T) {
	const whole = `start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		noise  string
		want   string
		code   engine.Code
	}{
		{"an error without its body", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "100"); w.WriteHeader(400) }, "", ``, engine.CodeInvalidArgument},
		{"an error that has no end", func(w http.ResponseWriter) { w.WriteHeader(400) }, " ", ``, engine.CodeInvalidArgument},
		{"a reason and no mark", func(w http.ResponseWriter) { stream(w, says(`"content":"a"`), end("stop")) }, ": \n\n", whole, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				tt.answer(w)
				for http.NewResponseController(w).Flush() == nil && r.Context().Err() == nil {
					if _, err := io.WriteString(w, tt.noise); err != nil {
						return
					}
					select {
					case <-time.After(time.Millisecond):
					case <-r.Context().Done():
					}
				}
			})
			e.refusalTimeout, e.trailerTimeout = 20*time.Millisecond, 20*time.Millisecond
			checkReply(t, e, ask("u"), tt.want, tt.code)
		})
	}
}

// TestCancel checks that the connection closes when the client leaves, at
// each stage: the handler returns only then.
func TestCancel(t *testing.T) {
	for _, stage := range []string{"before the headers", "under way", "between tries"} {
		t.Run(stage, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan struct{}, 1)
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch stage {
				case "before the headers":
					cancel()
				case "under way":
					stream(w, says(`"content":"a"`))
				case "between tries":
					status(w, 503, ``)
					left <- struct{}{}
					return
				}
				<-r.Context().Done()
				left <- struct{}{}
			})
			if stage == "between tries" {
				e.wait = func(ctx context.Context, _ time.Duration) error {
					cancel()
					return wait(ctx, time.Hour)
				}
			}
			var last error
			for _, err := range e.Generate(ctx, ask("u")) {
				last = err
				cancel()
			}
			if got := coded(t, last); got.Code != engine.CodeCanceled {
				t.Errorf("ends with %v", last)
			}
			<-left
		})
	}
	t.Run("a reader that leaves", func(t *testing.T) {
		left := make(chan struct{})
		e, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
			stream(w, says(`"content":"a"`))
			<-r.Context().Done()
			close(left)
		})
		for range e.Generate(t.Context(), ask("u")) {
			break
		}
		<-left
	})
}

func TestKeys(t *testing.T) {
	t.Run("none", func(t *testing.T) {
		e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { answerA(w) })
		if _, err := gather(t.Context(), e, ask("u")); err != nil {
			t.Fatal(err)
		}
		if got, ok := p.last().header["Authorization"]; ok {
			t.Errorf("Authorization %q", got)
		}
	})
	t.Run("each request asks for it", func(t *testing.T) {
		keys := []string{"one", "two"}
		e, p := serve(t, Config{Key: func() (string, error) {
			key := keys[0]
			keys = keys[1:]
			return key, nil
		}}, func(w http.ResponseWriter, _ *http.Request, _ int) { answerA(w) })
		for _, want := range []string{"Bearer one", "Bearer two"} {
			if _, err := gather(t.Context(), e, ask("u")); err != nil {
				t.Fatal(err)
			}
			if got := p.last().header.Get("Authorization"); got != want {
				t.Errorf("Authorization %q, want %q", got, want)
			}
		}
	})
	t.Run("a host that is not allowed", func(t *testing.T) {
		refused := engine.Errorf(engine.CodeForbidden, "no")
		e, p := serve(t, Config{Key: func() (string, error) { return "", refused }}, nil)
		_, err := gather(t.Context(), e, ask("u"))
		if !errors.Is(err, refused) || len(p.all()) != 0 {
			t.Errorf("%v after %d requests", err, len(p.all()))
		}
	})
	t.Run("never to where a redirect points", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") }))
		t.Cleanup(other.Close)
		e, _ := serve(t, Config{Key: func() (string, error) { return "k", nil }}, func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		})
		if _, err := gather(t.Context(), e, ask("u")); err == nil {
			t.Error("it succeeds")
		}
	})
}

// TestConnections checks that a reply leaves its connection to the next one.
func TestConnections(t *testing.T) {
	var opened atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answerA(w) }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	e, err := New(Config{BaseURL: s.URL, Model: "m", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := gather(t.Context(), e, ask("u")); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections for 5 requests", n)
	}
}

func TestNew(t *testing.T) {
	tests := []struct {
		url, model string
		says       string // empty: it is fine
		path       string // of a chat completion
	}{
		{"https://example.com/v1", "m", "", "/v1/chat/completions"},
		{"https://example.com/v1/", "m", "", "/v1/chat/completions"},
		{"http://localhost:8080", "m", "", "/v1/chat/completions"},
		{"https://example.com/v1beta/openai", "m", "", "/v1beta/openai/chat/completions"},
		{"https://example.com/v1/v1", "m", "", "/v1/v1/chat/completions"},
		{"example.com/v1", "m", "must begin with https://", ""},
		{"ftp://example.com", "m", "must begin with https://", ""},
		{"https://", "m", "must begin with https://", ""},
		{"https://a;id/v1", "m", "must begin with https:// or http:// and a host name", ""},
		{"https://u:p@example.com/v1", "m", "must not have a user", ""},
		{"https://example.com/v1?key=1", "m", "must not have a user", ""},
		{"https://exa mple.com", "m", "is not a URL", ""},
		{"https://example.com/v1", "", "PARAMETER model", ""},
	}
	for _, tt := range tests {
		t.Run(tt.url+" "+tt.model, func(t *testing.T) {
			asked := ""
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.Path
				return nil, errors.New("no network")
			})
			e, err := New(Config{BaseURL: tt.url, Model: tt.model, Log: slog.New(slog.DiscardHandler), HTTP: &http.Client{Transport: transport}})
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%v, want an error with %q", err, tt.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e.wait = func(context.Context, time.Duration) error { return nil }
			_, _ = gather(t.Context(), e, ask("u"))
			if asked != tt.path {
				t.Errorf("asks %s, want %s", asked, tt.path)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
