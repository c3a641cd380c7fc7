//go:build llamacpp && cgo

package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The store in ollamaFixture is one that Ollama wrote; its README says how. Its
// models write noise, and the same noise for the same tokens and parameters.
const ollamaFixture = "../../engine/models/store/testdata/ollama"

// The prompts are what Ollama itself renders (_debug_render_only) for a
// conversation with these models.
const (
	ollamaSystem = "System: You are a tiny model.\nYou have two lines.\nsystem: You are a tiny model.\nYou have two lines.\n"
	ollamaTurns  = "user: Who are you?\nassistant: A fixture, and a small one.\n"
)

// ollamaUser is a user whose models are a copy of that store, which nothing
// may change.
func ollamaUser(t *testing.T) *user {
	t.Helper()
	u := newUser(t)
	dir := filepath.Join(u.home, "ollama")
	if err := os.CopyFS(dir, os.DirFS(ollamaFixture)); err != nil {
		t.Fatal(err)
	}
	u.variables["DIGLOT_MODELS"] = dir
	return u
}

// protect takes away the right to write to the store, and holds to the end of
// the test that all in it stays as it is. The second is for users who may write
// anywhere.
func (u *user) protect() {
	u.t.Helper()
	dir := u.variables["DIGLOT_MODELS"]
	u.chmod(dir, 0o555, 0o444)
	before := u.content(dir)
	u.t.Cleanup(func() {
		if diff := cmp.Diff(before, u.content(dir)); diff != "" {
			u.t.Errorf("the store has changed: %s", diff)
		}
		u.chmod(dir, 0o755, 0o644) // so that it can be deleted
	})
}

func (u *user) chmod(dir string, directory, file fs.FileMode) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, directory)
		}
		return os.Chmod(path, file)
	})
	if err != nil {
		u.t.Error(err)
	}
}

// content is the hash of each file below dir.
func (u *user) content(dir string) map[string][sha256.Size]byte {
	all := map[string][sha256.Size]byte{}
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(tree, path)
		all[path] = sha256.Sum256(raw)
		return err
	})
	if err != nil {
		u.t.Error(err)
	}
	return all
}

// reply is what the two styles say of one answer.
type reply struct {
	Text, Ended string
	Tokens      int
}

// askBoth sends a conversation and more members in both styles, which answer the
// same but for words, and returns what they say.
func askBoth(t *testing.T, url, model, messages, more string) map[string]reply {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"messages":[%s]%s}`, model, messages, more)
	var chat struct {
		Choices []struct {
			Message struct{ Content string }
			Ended   string `json:"finish_reason"`
		}
		Usage struct {
			Tokens int `json:"completion_tokens"`
		}
	}
	read(t, url+"/v1/chat/completions", body, &chat)
	var message struct {
		Content []struct{ Text string }
		Ended   string `json:"stop_reason"`
		Usage   struct {
			Tokens int `json:"output_tokens"`
		}
	}
	read(t, url+"/v1/messages", body, &message)
	if len(chat.Choices) != 1 {
		t.Fatalf("%s: %+v", body, chat)
	}
	all := map[string]reply{
		"openai":    {chat.Choices[0].Message.Content, chat.Choices[0].Ended, chat.Usage.Tokens},
		"anthropic": {"", message.Ended, message.Usage.Tokens},
	}
	for _, block := range message.Content {
		all["anthropic"] = reply{block.Text, message.Ended, message.Usage.Tokens}
	}
	if a, b := all["openai"], all["anthropic"]; a.Text != b.Text || a.Tokens != b.Tokens || a.Tokens == 0 {
		t.Errorf("%s: the styles answer differently: %+v", body, all)
	}
	return all
}

func read(t *testing.T, url, body string, v any) {
	t.Helper()
	r := post(t, url, body)
	raw, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s %s\nstatus %d, error %v:\n%s", url, body, r.StatusCode, err, raw)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

const hello = `{"role":"user","content":"hi"}`

// TestOllamaStore serves the store as it is: its names, templates, system texts
// and messages, and the adapter.
func TestOllamaStore(t *testing.T) {
	u := ollamaUser(t)
	u.protect()
	trace := filepath.Join(u.home, "trace")
	url, stop := u.serve("--parallel", "1", "--trace", trace)
	listed := get(t, url+"/v1/models")
	names := []string{"tiny:v1", "gpt-4o", "hf.co/org/Tiny-GGUF:Q4_K_M", "someone/tiny-lora"}
	greedy := map[string]string{}
	for _, name := range names {
		if !strings.Contains(listed, fmt.Sprintf(`"id":%q`, name)) {
			t.Errorf("%s is not listed: %s", name, listed)
		}
		greedy[name] = askBoth(t, url, name, hello, `,"max_tokens":12,"temperature":0`)["openai"].Text
	}
	if greedy["tiny:v1"] != greedy["gpt-4o"] || greedy["tiny:v1"] != greedy["hf.co/org/Tiny-GGUF:Q4_K_M"] {
		t.Errorf("aliases answer differently: %q", greedy)
	}
	if greedy["tiny:v1"] == greedy["someone/tiny-lora"] {
		t.Errorf("the adapter changes nothing: %q", greedy)
	}
	askEverywhere(t, url, "gpt-4o", `"content":"hi"`)
	if loaded := u.loaded(); len(loaded) != 2 || loaded[0].Context != 256 || loaded[1].Context != 256 {
		t.Errorf("loaded %+v, want one for the three names and one with the adapter, of 256 tokens", loaded)
	}
	const turns = `{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}`
	askBoth(t, url, "tiny:v1", turns, `,"max_tokens":1`)
	read(t, url+"/v1/chat/completions", `{"model":"tiny:v1","max_tokens":1,"messages":[{"role":"system","content":"s"},`+hello+`]}`, new(any))
	read(t, url+"/v1/messages", `{"model":"tiny:v1","max_tokens":1,"system":"s","messages":[`+hello+`]}`, new(any))
	stop()
	u.prompts(trace, map[string]int{
		ollamaSystem + ollamaTurns + "user: hi\nassistant:":                       2*len(names) + 6, // askEverywhere has six
		ollamaSystem + ollamaTurns + "user: a\nassistant: b\nuser: c\nassistant:": 2,
		// What the client says of the system stays in front, where Ollama puts it
		// behind the definition's messages.
		"System: s\nsystem: s\n" + ollamaTurns + "user: hi\nassistant:": 2,
		"hi": 2, // of /v1/completions, which has no template
	})
}

// prompts holds how often each prompt is in a trace.
func (u *user) prompts(trace string, want map[string]int) {
	u.t.Helper()
	raw, err := os.ReadFile(trace)
	if err != nil {
		u.t.Fatal(err)
	}
	got := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		var entry struct{ Prompt string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			u.t.Fatal(err)
		}
		if entry.Prompt != "" {
			got[entry.Prompt]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		u.t.Errorf("not the prompts that Ollama renders (-want +got):\n%s", diff)
	}
}

// TestOllamaParameters holds that the parameters of the store are in force, and
// those of a model that builds on one of it.
func TestOllamaParameters(t *testing.T) {
	u := ollamaUser(t)
	u.must("create", "short", "--quiet", "-f", u.write("short.modelfile", "FROM tiny:v1\nPARAMETER num_predict 3\nPARAMETER top_k 1\n"))
	u.protect()
	url, _ := u.serve("--parallel", "1")
	text := func(model, more string) string {
		t.Helper()
		return askBoth(t, url, model, hello, `,"max_tokens":40`+more)["openai"].Text
	}
	own := text("tiny:v1", "")
	for more, same := range map[string]bool{
		"":                                  true, // the seed
		`,"temperature":0.25,"top_p":0.5`:   true,
		`,"temperature":2,"top_p":1`:        false,
		`,"temperature":0.25,"top_p":0.001`: false,
	} {
		if got := text("tiny:v1", more); (got == own) != same {
			t.Errorf("with %q: %q, and %q with what the definition sets; want the same: %v", more, got, own, same)
		}
	}
	if got := text("short", ""); got == own {
		t.Errorf("top_k changes nothing: %q", got)
	}
	if got := askBoth(t, url, "tiny:v1", hello, `,"max_tokens":40`)["anthropic"]; got.Ended != "max_tokens" || got.Tokens != 40 {
		t.Errorf("%+v, want 40 tokens", got)
	}

	var chat struct {
		Usage struct {
			Tokens int `json:"completion_tokens"`
		}
	}
	read(t, url+"/v1/chat/completions", `{"model":"short","messages":[`+hello+`]}`, &chat)
	if chat.Usage.Tokens != 3 {
		t.Errorf("%d tokens, want the 3 of num_predict", chat.Usage.Tokens)
	}
}

// TestOllamaStops makes a model that writes noise write the stop strings of its
// definition: a schema leaves it nothing else.
func TestOllamaStops(t *testing.T) {
	u := ollamaUser(t)
	u.protect()
	url, _ := u.serve("--parallel", "1")
	for written, want := range map[string]string{
		"one user: two":  `"one `,
		"one </end> two": `"one `,
		"one two":        `"one two"`,
	} {
		schema := fmt.Sprintf(`{"const":%q}`, written)
		var chat struct {
			Choices []struct{ Message struct{ Content string } }
		}
		read(t, url+"/v1/chat/completions", fmt.Sprintf(`{"model":"tiny:v1","messages":[%s],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":%s}}}`, hello, schema), &chat)
		if len(chat.Choices) != 1 || chat.Choices[0].Message.Content != want {
			t.Errorf("%q: %+v, want %q", written, chat, want)
		}
	}
}

// TestOllamaContext holds num_ctx: where Ollama would leave something out of a
// prompt, it is refused.
func TestOllamaContext(t *testing.T) {
	u := ollamaUser(t)
	u.protect()
	url, _ := u.serve("--parallel", "1")
	const context = 256
	message := func(n int) string { return fmt.Sprintf(`{"role":"user","content":%q}`, strings.Repeat("a", n)) }
	var least struct {
		Tokens int `json:"input_tokens"`
	}
	read(t, url+"/v1/messages/count_tokens", `{"model":"tiny:v1","messages":[`+message(0)+`]}`, &least)
	askBoth(t, url, "tiny:v1", message(context-1-least.Tokens), `,"max_tokens":1`)
	body := fmt.Sprintf(`{"model":"tiny:v1","max_tokens":1,"messages":[%s]}`, message(context+1-least.Tokens))
	for path, want := range map[string]string{
		"/v1/chat/completions": `"code":"context_length_exceeded"`,
		"/v1/messages":         "prompt is too long: 257 tokens > 256 maximum",
	} {
		r := post(t, url+path, body)
		raw, err := io.ReadAll(r.Body)
		if text := strings.ReplaceAll(string(raw), `\u003e`, ">"); err != nil || r.StatusCode != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, error %v, want %q:\n%s", path, r.StatusCode, err, want, text)
		}
	}
}
