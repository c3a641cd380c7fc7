//go:build llamacpp && cgo

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// small makes a model of the smallest file, with more lines of its definition.
func (u *user) small(name, more string) {
	u.t.Helper()
	u.must("create", name, "--quiet", "-f", u.write(name+".modelfile", "FROM "+smallestModel(u.t)+"\n"+more))
}

// TestAliasOfAModel is the second path of the interface document: a copy under
// the name that clients expect.
func TestAliasOfAModel(t *testing.T) {
	u := newUser(t)
	u.small("small", "PARAMETER num_ctx 512\n")
	u.must("cp", "small", "gpt-4o")
	url, _ := u.serve("--parallel", "1")
	for _, model := range []string{"gpt-4o", "small"} {
		askEverywhere(t, url, model, `"content":"hi"`)
		for path, rest := range map[string]string{
			"/v1/messages/count_tokens": `"messages":[{"role":"user","content":"hi"}]`,
			"/v1/embeddings":            `"input":"hi"`,
		} {
			reply := post(t, url+path, fmt.Sprintf(`{"model":%q,%s}`, model, rest))
			if reply.StatusCode != http.StatusOK {
				t.Errorf("%s, model %q: status %d", path, model, reply.StatusCode)
			}
		}
	}
	loaded := u.loaded()
	if len(loaded) != 1 || loaded[0].Name != "gpt-4o" || loaded[0].Context != 512 {
		t.Errorf("loaded %+v, want one with a context of 512", loaded)
	}
}

type loadedModel struct {
	Name          string
	Context, Size int
}

func (u *user) loaded() []loadedModel {
	u.t.Helper()
	var all []loadedModel
	if err := json.Unmarshal([]byte(u.must("ps", "--json")), &all); err != nil {
		u.t.Fatal(err)
	}
	return all
}

// TestContextOfADefinition is the third path of the interface document: with a
// num_ctx of 2048, a prompt of 2,049 tokens is too long in both styles. The
// last prompt that is not is shown with a smaller context, which is read sooner.
func TestContextOfADefinition(t *testing.T) {
	u := newUser(t)
	for _, context := range []int{2048, 64} {
		u.small("context"+strconv.Itoa(context), fmt.Sprintf("PARAMETER num_ctx %d\nSYSTEM Be brief.\n", context))
	}
	url, _ := u.serve("--parallel", "1")
	for _, tt := range []struct {
		context, tokens int
		fits            bool
	}{{2048, 2049, false}, {2048, 2048, false}, {64, 65, false}, {64, 63, true}} {
		for _, style := range []struct{ path, refusal string }{
			{"/v1/chat/completions", `"code":"context_length_exceeded"`},
			{"/v1/messages", fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tt.tokens, tt.context)},
		} {
			status, text := askTokens(t, url, style.path, tt.context, tt.tokens)
			want, in := http.StatusBadRequest, style.refusal
			if tt.fits {
				want, in = http.StatusOK, fmt.Sprintf(`_tokens":%d`, tt.tokens)
			}
			if status != want || !strings.Contains(text, in) {
				t.Errorf("%s, %d tokens of %d: status %d, want %d and %q\n%s", style.path, tt.tokens, tt.context, status, want, in, text)
			}
		}
	}
}

// askTokens sends a prompt of so many tokens to the model with the context.
func askTokens(t *testing.T, url, path string, context, tokens int) (int, string) {
	t.Helper()
	ask := func(path, rest string, words int) (int, string) {
		reply := post(t, url+path, fmt.Sprintf(`{"model":"context%d",%s"messages":[{"role":"user","content":"a%s"}]}`, context, rest, strings.Repeat(" a", words)))
		text, err := io.ReadAll(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply.StatusCode, strings.ReplaceAll(string(text), `\u003e`, ">")
	}
	_, text := ask("/v1/messages/count_tokens", "", 0)
	least, err := strconv.Atoi(regexp.MustCompile(`\d+`).FindString(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return ask(path, `"max_tokens":1,`, tokens-least) // each further word is one token
}

// TestModelsComeAndGo loads two models where there is memory for one, and ends
// the server: no process is left.
func TestModelsComeAndGo(t *testing.T) {
	u := newUser(t)
	u.small("one", "PARAMETER num_ctx 256\n")
	u.small("two", "PARAMETER num_ctx 512\n")
	s := startFor(t, u.environment(nil, nil).getenv, "--parallel", "1", "--threads", "1", "--load", "one", "--max-memory", "300MB")
	for _, name := range []string{"one", "two", "one"} {
		u.must("load", name)
		if loaded := u.loaded(); len(loaded) != 1 || loaded[0].Name != name || loaded[0].Size > 300e6 {
			t.Errorf("loaded %+v, want %q alone", loaded, name)
		}
	}
	u.must("rm", "one")
	for len(u.loaded()) > 0 { // the look at it lets it go; its process takes a moment
		time.Sleep(10 * time.Millisecond)
	}
	status, _, stderr := u.do("load", "one")
	if status != exit.NotFound || !strings.Contains(stderr, "diglot pull one") {
		t.Errorf("a model that was removed: status %d, %s", status, stderr)
	}
	u.must("load", "two")
	s.stop()
	if status := <-s.ended; status != 0 {
		t.Errorf("the server ends with %d", status)
	}
	pids := regexp.MustCompile(`msg="model loaded".* pid=(\d+)`).FindAllStringSubmatch(s.log.String(), -1)
	if len(pids) != 4 {
		t.Errorf("%d processes were started, want 4:\n%s", len(pids), s.log)
	}
	for _, pid := range pids {
		n, err := strconv.Atoi(pid[1])
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(n, 0); err == nil {
			t.Errorf("the process %d is left", n)
		}
	}
}

// TestFileComesAndGoes serves a file that a flag names beside a model of the store,
// with memory for one of them, and then leaves it alone.
func TestFileComesAndGoes(t *testing.T) {
	u := newUser(t)
	u.small("stored", "PARAMETER num_ctx 256\n")
	s := startFor(t, u.environment(nil, nil).getenv, "--model", "m="+smallestModel(t), "--context", "512", "--parallel", "1", "--threads", "1", "--max-memory", "300MB", "--keep-alive", "1s")
	for _, name := range []string{"m", "stored", "m"} {
		u.must("load", name)
		for _, loaded := range u.loaded() { // none, where the machine is slow
			if loaded.Name != name || loaded.Size == 0 || loaded.Size > 300e6 {
				t.Errorf("loaded %+v, want %q alone", loaded, name)
			}
		}
	}
	for range 2 {
		for len(u.loaded()) > 0 {
			time.Sleep(10 * time.Millisecond)
		}
		for _, style := range styles {
			body, err := io.ReadAll(post(t, s.url+style.path, fmt.Sprintf(style.body, "Say hello.")).Body)
			if err != nil || !strings.Contains(string(body), style.end) {
				t.Errorf("%s: error %v:\n%s", style.name, err, body)
			}
		}
	}
	if n := strings.Count(s.log.String(), `msg="model loaded"`); n < 5 {
		t.Errorf("%d processes were started, want 5 or more:\n%s", n, s.log)
	}
	if log := s.log.String(); !strings.Contains(log, `msg="model unloaded" model=m reason=idle`) || !strings.Contains(log, `msg="model unloaded" model=m reason=evicted`) {
		t.Errorf("the log lacks why m was unloaded:\n%s", log)
	}
	u.must("load", "m")
	u.must("stop", "m")
}

// TestModelThatNeverFits has a server that may take less than the model needs.
func TestModelThatNeverFits(t *testing.T) {
	u := newUser(t)
	u.small("small", "PARAMETER num_ctx 4096\n")
	url, _ := u.serve("--max-memory", "100MB")
	for _, style := range styles {
		reply := post(t, url+style.path, strings.ReplaceAll(fmt.Sprintf(style.body, "hi"), `"model": "m"`, `"model": "small"`))
		body, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusBadRequest || reply.Header.Get("X-Should-Retry") != "false" ||
			!strings.Contains(string(body), "100.0 MB are free") {
			t.Errorf("%s: status %d, error %v\n%s", style.name, reply.StatusCode, err, body)
		}
	}
}
