package handlers_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/openapi"
)

var stormTime = flag.Duration("storm", 0, "how long TestStorm goes on; 0: until each case was sent once")

// TestStorm sends valid and invalid requests of all operations from many clients
// concurrently, some of which disconnect early. No reply is a server error or violates its
// document, and no goroutine is left.
func TestStorm(t *testing.T) {
	const clients = 16
	h := newHandler(t, handlers.Config{Engine: openStorm(t), AllowImageHosts: []string{pictureHost}})
	server := httptest.NewServer(h)
	requests := stormRequests(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed) // of the order, for who looks at a failure
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	end := time.Now().Add(*stormTime)

	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(client), 1))
			for round := 0; round == 0 || time.Now().Before(end); round++ {
				for i := client; i < len(requests); i += clients {
					if err := requests[i].send(t.Context(), server.URL, random.IntN(20) == 0); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	running.Wait()
	server.CloseClientConnections()
	server.Close()
	if n := leaked(t); n > 0 {
		t.Errorf("%d goroutines wait for what never comes", n)
	}
}

// leaked counts goroutines that nothing can wake.
func leaked(t *testing.T) int {
	t.Helper()
	profile := pprof.Lookup("goroutineleak")
	var text bytes.Buffer
	if err := profile.WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	if profile.Count() > 0 {
		t.Log(text.String())
	}
	return profile.Count()
}

// stormRequest is one request; a right answer is any that is not the server's
// fault.
type stormRequest struct{ method, path, body string }

// send sends the request and reads the reply, or the first bytes of it.
func (q stormRequest) send(ctx context.Context, url string, leave bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, q.method, url+q.path, strings.NewReader(q.body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("%s %s: %w", q.method, q.path, err)
	}
	defer w.Body.Close()
	if w.StatusCode >= 500 {
		said, _ := io.ReadAll(w.Body)
		return fmt.Errorf("%s %s: status %d\n%.1000s\n%s", q.method, q.path, w.StatusCode, q.body, said)
	}
	if leave {
		_, _ = io.ReadFull(w.Body, make([]byte, 16))
		return nil
	}
	_, err = io.Copy(io.Discard, w.Body)
	return err
}

// stormRequests are the cases of all documents, their examples, plain and
// streamed, and bodies that are no requests at all.
func stormRequests(t *testing.T) []stormRequest {
	t.Helper()
	var all []stormRequest
	for _, document := range documents(t) {
		for _, o := range document.Operations() {
			path := strings.ReplaceAll(o.Path, "{model}", "m")
			if o.Body == nil {
				all = append(all, stormRequest{o.Method, path, ""})
				continue
			}
			for _, c := range casesOf(t, o, openapi.ProfileDefault) {
				all = append(all, stormRequest{o.Method, path, string(c.Body)})
			}
			for _, body := range examplesOf(t, o.ID) {
				streamed := strings.TrimSuffix(strings.TrimSpace(body), "}") + `,"stream":true}`
				all = append(all, stormRequest{o.Method, path, body}, stormRequest{o.Method, path, streamed})
			}
			for _, body := range []string{"", "{", "[]", "null", `{"model":"none"}`, `{"model":"m"`, "\xff", strings.Repeat("[", 2000)} {
				all = append(all, stormRequest{o.Method, path, body})
			}
		}
	}
	return append(all, stormRequest{"GET", "/v1/none", ""}, stormRequest{"DELETE", "/v1/models/m", ""}, stormRequest{"GET", "/", ""})
}

// openStorm serves one model that can do everything a script can.
func openStorm(t *testing.T) engine.Engine {
	t.Helper()
	models, err := script.Open("testdata/storm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return over(t, models)
}
