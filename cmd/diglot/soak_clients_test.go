//go:build llamacpp && cgo && linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/diglot/diglot/handlers/handlerstest"
)

// soak is what the clients of TestSoak share.
type soak struct {
	t      *testing.T
	server *soaked
	http   *http.Client
	check  func(r *http.Request, status int, header http.Header, body []byte) error
	seed   uint64
	cases  []soakCase

	rest sync.RWMutex // held for writing while nobody asks

	mu       sync.Mutex
	said     map[string]string // by case: what it says every time
	counts   map[string]int
	kills    int
	answered bool // since the last kill
}

func newSoak(t *testing.T, s *soaked, seed uint64) *soak {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = soakClients
	return &soak{
		t: t, server: s, http: &http.Client{Transport: transport}, check: handlerstest.Check(t), seed: seed,
		cases: soakCases(), said: map[string]string{}, counts: map[string]int{},
	}
}

// soakCase is one request and what its reply says.
type soakCase struct {
	name, path, body string
	status           int
	read             func(reply []byte) (string, error) // what must be the same every time; nil: only the status
	want             string                             // that it is; empty: what it was the first time
}

// soakCases are all requests. Texts are what is likeliest, by far: what other
// requests add to a batch moves the last digits. Or a grammar leaves no choice.
func soakCases() []soakCase {
	var all []soakCase
	for _, g := range handlerstest.Generations() {
		questions := []string{"What is a compiler? 👩‍🚀", "What is gravity?", "Repeat: one two three four five six seven eight nine ten"}
		if !g.Structure { // it continues a text
			questions = []string{"1, 2, 3, 4, 5, 6,", "a b c d e f g h i"}
		}
		for _, question := range questions {
			for _, stream := range []bool{false, true} {
				read := g.Whole
				if stream {
					read = g.Fold
				}
				body := g.Body(handlerstest.Ask{Text: question, Choices: 1, Stream: stream, More: map[string]any{"temperature": 0, g.Limit: 8}})
				all = append(all, soakCase{g.Name + ": " + question, g.Path, string(body), http.StatusOK, textOf(read), ""})
			}
		}
	}
	return slices.Concat(all, certainCases(), refusedCases())
}

func textOf(read func([]byte) ([]handlerstest.Answer, error)) func([]byte) (string, error) {
	return func(reply []byte) (string, error) {
		answers, err := read(reply)
		if err != nil {
			return "", err
		}
		text := ""
		for _, a := range answers {
			text += a.Text()
			for _, c := range a.Calls() {
				text += c.Name + handlerstest.CanonicalJSON(c.Text)
			}
		}
		return text, nil
	}
}

// certainCases have replies that are known before. All of the white space that JSON may
// have, which is sampled, takes at most 190 tokens.
func certainCases() []soakCase {
	const (
		user   = `"messages":[{"role":"user","content":"Say it."}]`
		schema = `{"type":"object","properties":{"word":{"const":"élan <&> 👩‍🚀"}},"required":["word"],"additionalProperties":false}`
		object = `{"word":"élan <&> 👩‍🚀"}`
		call   = "f" + object
	)
	var all []soakCase
	for _, c := range []struct{ name, path, body, want string }{
		{"schema", "/v1/chat/completions", user + `,"max_tokens":256,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + schema + `}}`, object},
		{"schema", "/v1/responses", `"input":"Say it.","max_output_tokens":256,"text":{"format":{"type":"json_schema","name":"n","schema":` + schema + `}}`, object},
		{"schema", "/v1/messages", user + `,"max_tokens":256,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`, object},
		{"call", "/v1/chat/completions", user + `,"max_tokens":256,"tool_choice":"required","parallel_tool_calls":false,"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":` + schema + `}}]`, call},
		{"call", "/v1/messages", user + `,"max_tokens":256,"tool_choice":{"type":"any","disable_parallel_tool_use":true},"tools":[{"name":"f","input_schema":` + schema + `}]`, call},
	} {
		for _, g := range handlerstest.Generations() {
			if g.Path != c.path {
				continue
			}
			read := func(reply []byte) (string, error) {
				text, err := textOf(g.Whole)(reply)
				return handlerstest.CanonicalJSON(text), err
			}
			fold := func(reply []byte) (string, error) {
				text, err := textOf(g.Fold)(reply)
				return handlerstest.CanonicalJSON(text), err
			}
			all = append(all,
				soakCase{c.name + " " + c.path, c.path, `{"model":"m",` + c.body + `}`, http.StatusOK, read, c.want},
				soakCase{c.name + " " + c.path, c.path, `{"model":"m","stream":true,` + c.body + `}`, http.StatusOK, fold, c.want})
		}
	}
	return append(all,
		soakCase{"count", "/v1/messages/count_tokens", `{"model":"m",` + user + `}`, http.StatusOK, wholeReply, ""},
		soakCase{"embed", "/v1/embeddings", `{"model":"m","input":["a fox","and a river 👩‍🚀"]}`, http.StatusOK, wholeReply, ""})
}

func wholeReply(reply []byte) (string, error) { return string(reply), nil }

// refusedCases are requests that cannot be answered.
func refusedCases() []soakCase {
	const picture = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`
	long := strings.Repeat("word ", 3000)
	var all []soakCase
	for _, path := range []string{"/v1/chat/completions", "/v1/messages"} {
		for _, c := range []struct {
			name, body string
			status     int
		}{
			{"no JSON", `{"model":"m","max_tokens":8,"messages":[{"role":"user"`, http.StatusBadRequest},
			{"no request", `{"model":"m","max_tokens":8,"messages":"hello"}`, http.StatusBadRequest},
			{"no model", `{"model":"none","max_tokens":8,"messages":[{"role":"user","content":"u"}]}`, http.StatusNotFound},
			{"too long", `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"` + long + `"}]}`, http.StatusBadRequest},
			{"an image", `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + picture + `"}},{"type":"text","text":"u"}]}]}`, http.StatusBadRequest},
			{"deep", strings.Repeat(`[`, 3000), http.StatusBadRequest},
		} {
			all = append(all, soakCase{"refused: " + c.name, path, c.body, c.status, nil, ""})
		}
	}
	return all
}

// client asks until ctx ends, in its own order.
func (k *soak) client(ctx context.Context, number int) {
	random := rand.New(rand.NewPCG(k.seed, uint64(number)))
	for ctx.Err() == nil && !k.t.Failed() {
		c := k.cases[random.IntN(len(k.cases))]
		k.rest.RLock()
		switch random.IntN(12) {
		case 0:
			k.leave(c, random.IntN(400))
		case 1:
			k.sendSlowly(ctx, c, random.IntN(3) == 0)
		case 2:
			k.neverRead(ctx)
		default:
			k.ask(c)
		}
		k.rest.RUnlock()
	}
}

// askOnce asks until there is an answer.
func (k *soak) askOnce() {
	for !k.ask(k.cases[0]) && !k.t.Failed() {
		wait(k.t.Context(), time.Second/4)
	}
}

// askAll asks everything once, as many requests at a time as are computed.
func (k *soak) askAll() {
	var running sync.WaitGroup
	for part := range slices.Chunk(k.cases, len(k.cases)/4+1) {
		running.Go(func() {
			for _, c := range part {
				k.ask(c)
			}
		})
	}
	running.Wait()
}

// fill asks about long texts, as many at a time as are computed: then all KV
// cells have been used, which take memory from then on.
func (k *soak) fill() {
	var running sync.WaitGroup
	for i := range soakParallel {
		text := strings.Repeat(fmt.Sprintf("word %d ", i), soakContext/4)
		body, err := json.Marshal(map[string]any{"model": "m", "max_tokens": 8, "messages": []any{map[string]string{"role": "user", "content": text}}})
		if err != nil {
			k.t.Error(err)
		}
		answered := func([]byte) (string, error) { return "", nil }
		running.Go(func() { k.ask(soakCase{"a long text", "/v1/messages", string(body), http.StatusOK, answered, ""}) })
	}
	running.Wait()
}

func (k *soak) request(c soakCase) *http.Request {
	r, err := http.NewRequest(http.MethodPost, "http://"+k.server.address+c.path, strings.NewReader(c.body))
	if err != nil {
		k.t.Error(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

// ask asks and reports whether the reply is that of the case.
func (k *soak) ask(c soakCase) bool {
	kills, _ := k.state()
	r := k.request(c)
	w, err := k.http.Do(r)
	if err != nil {
		k.t.Errorf("%s: %v", c.name, err)
		return false
	}
	return k.judge(c, r, w, kills)
}

// state is how often the model was killed, and whether it may be dead still.
func (k *soak) state() (kills int, dead bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kills, k.kills > 0 && !k.answered
}

// judge holds a whole reply against its document and the case. An error that
// speaks of a process is right where one was killed since there were so many
// kills.
func (k *soak) judge(c soakCase, r *http.Request, w *http.Response, kills int) bool {
	_, dead := k.state()
	body, err := io.ReadAll(w.Body)
	w.Body.Close()
	if err != nil {
		k.t.Errorf("%s: %v", c.name, err)
		return false
	}
	if err := k.check(r, w.StatusCode, w.Header, body); err != nil {
		k.t.Errorf("%s: %v\n%s", c.name, err, body)
	}
	now, _ := k.state()
	crashed := w.StatusCode == http.StatusBadGateway || w.StatusCode == http.StatusOK && bytes.Contains(body, []byte("The process of model")) &&
		(bytes.Contains(body, []byte(`data: {"error":`)) || bytes.Contains(body, []byte("event: error\n")) || bytes.Contains(body, []byte("event: response.failed\n")))
	switch {
	case crashed && kills > 1 && bytes.Contains(body, []byte("This request crashed the process")):
		k.count("blamed") // it ran, alone the second time, when the process was killed
		return false
	case crashed && (dead || now > kills):
		k.count("crashed")
		return false
	case w.StatusCode == http.StatusServiceUnavailable || w.StatusCode == 529:
		if w.Header.Get("Retry-After") == "" {
			k.t.Errorf("%s: status %d without Retry-After", c.name, w.StatusCode)
		}
		k.count("overloaded")
		return false
	case w.StatusCode != c.status:
		k.t.Errorf("%s: status %d, want %d (%d kills)\n%s\n%.500s", c.name, w.StatusCode, c.status, now, body, c.body)
		return false
	case c.read == nil:
		k.count("refused")
		return true
	}
	said, err := c.read(body)
	if err != nil {
		k.t.Errorf("%s: %v\n%s", c.name, err, body)
		return false
	}
	k.compare(c, said, now == kills)
	return true
}

// compare holds what a reply says against what it has to say. whole says that
// no kill came between.
func (k *soak) compare(c soakCase, said string, whole bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts["answered"]++
	k.answered = k.answered || whole
	want, known := k.said[c.name]
	if c.want != "" {
		want, known = handlerstest.CanonicalJSON(c.want), true
	}
	if !known {
		k.said[c.name] = said
	} else if said != want {
		k.t.Errorf("%s: says %q, want %q", c.name, said, want)
	}
}

func (k *soak) count(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts[name]++
}

// figures is what was done.
func (k *soak) figures() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(k.counts)) {
		all = append(all, fmt.Sprintf("%d %s", k.counts[name], name))
	}
	return strings.Join(all, ", ")
}

// leave goes away after some bytes of the reply.
func (k *soak) leave(c soakCase, bytes int) {
	ctx, cancel := context.WithCancel(k.t.Context())
	defer cancel()
	w, err := k.http.Do(k.request(c).WithContext(ctx))
	if err != nil {
		k.t.Errorf("%s: %v", c.name, err)
		return
	}
	_, _ = io.CopyN(io.Discard, w.Body, int64(bytes))
	cancel()
	w.Body.Close()
	k.count("left")
}

// sendSlowly sends a body in pieces, and all of it or not.
func (k *soak) sendSlowly(ctx context.Context, c soakCase, all bool) {
	kills, _ := k.state()
	connection := k.dial()
	if connection == nil {
		return
	}
	defer connection.Close()
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", c.path, len(c.body))
	_, err := io.WriteString(connection, head)
	piece := len(c.body)/3 + 1
	for rest := c.body; rest != "" && err == nil; {
		n := min(piece, len(rest))
		if !all && n == len(rest) {
			k.count("unfinished")
			return
		}
		_, err = io.WriteString(connection, rest[:n])
		rest = rest[n:]
		wait(ctx, 100*time.Millisecond)
	}
	if err != nil {
		k.t.Errorf("%s, sent slowly: %v", c.name, err)
		return
	}
	r := k.request(c)
	w, err := http.ReadResponse(bufio.NewReader(connection), r)
	if err != nil {
		k.t.Errorf("%s, sent slowly: %v", c.name, err)
		return
	}
	k.count("slow")
	k.judge(c, r, w, kills)
}

// neverRead asks for a stream and reads nothing of it.
func (k *soak) neverRead(ctx context.Context) {
	connection := k.dial()
	if connection == nil {
		return
	}
	defer connection.Close()
	body, _ := json.Marshal(map[string]any{"model": "m", "stream": true, "max_tokens": 200, "messages": []any{map[string]string{"role": "user", "content": "Tell a story."}}})
	_, err := fmt.Fprintf(connection, "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		k.t.Error(err)
	}
	wait(ctx, 300*time.Millisecond)
	k.count("unread")
}

func (k *soak) dial() net.Conn {
	connection, err := net.Dial("tcp", k.server.address)
	if err != nil {
		k.t.Error(err)
		return nil
	}
	return connection
}

// kill ends the model's process, from outside or by its own fault in turn.
func (k *soak) kill(number int) {
	signal := syscall.SIGKILL
	if number%2 == 0 {
		signal = syscall.SIGSEGV
	}
	k.mu.Lock()
	k.kills++
	k.answered = false
	k.mu.Unlock()
	for _, pid := range k.server.children() {
		if err := syscall.Kill(pid, signal); err != nil {
			k.t.Error(err)
		}
	}
	k.count("kills")
}
