package upstream

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// circle makes servers, each of which has a model that the next one serves,
// and the last one's is at the first.
func circle(t *testing.T, servers int, asked *atomic.Int64) *httptest.Server {
	t.Helper()
	all := make([]*httptest.Server, servers)
	for i := range all {
		all[i] = httptest.NewUnstartedServer(nil)
	}
	for i, s := range all {
		next := all[(i+1)%servers].Listener.Addr().String()
		e, err := New(Config{BaseURL: "http://" + next + "/v1", Model: "m", Log: slog.New(slog.DiscardHandler), Via: "diglot-" + string(rune('a'+i))})
		if err != nil {
			t.Fatal(err)
		}
		h, err := handlers.New(handlers.Config{Engine: e, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) > 20 { // or the test would never end
				w.WriteHeader(http.StatusTeapot)
				return
			}
			handlerstest.Contract(t, h).ServeHTTP(w, r)
		})
		s.Start()
		t.Cleanup(s.Close)
	}
	return all[0]
}

func TestCircles(t *testing.T) {
	for _, test := range []struct {
		name, path, body string
		servers          int
	}{
		{"itself", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, 1},
		{"a stream", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`, 1},
		{"the other style", "/v1/messages", `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}`, 1},
		{"vectors", "/v1/embeddings", `{"model":"m","input":"x"}`, 1},
		{"three servers", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked atomic.Int64
			s := circle(t, test.servers, &asked)
			reply, err := http.Post(s.URL+test.path, "application/json", strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			defer reply.Body.Close()
			text, _ := io.ReadAll(reply.Body)
			if reply.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "forwarding loop") {
				t.Errorf("the reply is %d %s", reply.StatusCode, text)
			}
			if n := asked.Load(); n != int64(test.servers)+1 {
				t.Errorf("%d servers were asked %d times", test.servers, n)
			}
		})
	}
}

// A route is passed on, and another program's name in it is no circle.
func TestRoute(t *testing.T) {
	e, peer := serve(t, Config{Via: "diglot-b"}, func(w http.ResponseWriter, _ *http.Request, _ int) { answerA(w) })
	ctx := engine.WithRoute(t.Context(), []string{"proxy", "diglot-a"})
	if _, err := gather(ctx, e, ask("x")); err != nil {
		t.Fatal(err)
	}
	if got, want := peer.last().header.Get("Via"), "1.1 proxy, 1.1 diglot-a, 1.1 diglot-b"; got != want {
		t.Errorf("Via is %q, not %q", got, want)
	}
}
