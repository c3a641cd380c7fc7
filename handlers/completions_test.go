package handlers_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/internal/sse"
	"github.com/diglot/diglot/openapi"
)

// completionExamples reach the fields of a completion that have rules beyond
// the schema.
var completionExamples = []string{
	`{
		"model": "m", "prompt": ["p"], "suffix": "s", "echo": true, "max_tokens": 8,
		"n": 2, "best_of": 3, "logprobs": 2, "logit_bias": {"1": 1}, "stop": ["x"],
		"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}
	}`,
	`{"model": "m", "prompt": "p", "echo": true, "logprobs": 0, "n": 2}`,
}

// completion is a reply or, with the same names, a chunk.
type completion struct {
	Choices []struct {
		Index        int     `json:"index"`
		Text         string  `json:"text"`
		FinishReason *string `json:"finish_reason"`
		Logprobs     *struct {
			Tokens     []string `json:"tokens"`
			TextOffset []int    `json:"text_offset"`
		} `json:"logprobs"`
	} `json:"choices"`
	Usage *struct {
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

// said is the content of one choice of a completion.
type said struct {
	Text, Finish string
	Tokens       []string
	Offsets      []int
}

// complete sends a body twice, streamed and not, and returns the choices of both.
func complete(t *testing.T, h http.Handler, body map[string]any) (whole, streamed []said) {
	t.Helper()
	body["stream"] = false
	w := post(t, h, "/v1/completions", encode(t, body))
	if w.Code != 200 {
		t.Fatalf("status %d\n%s", w.Code, w.Body)
	}
	whole = add(t, whole, w.Body.Bytes())
	body["stream"] = true
	w = post(t, h, "/v1/completions", encode(t, body))
	frames := sse.NewReader(bytes.NewReader(w.Body.Bytes()))
	for {
		f, err := frames.Next()
		if errors.Is(err, io.EOF) {
			return whole, streamed
		}
		if err != nil {
			t.Fatal(err)
		}
		if string(f.Data) != "[DONE]" {
			streamed = add(t, streamed, f.Data)
		}
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// add adds what a reply or a chunk says.
func add(t *testing.T, all []said, body []byte) []said {
	t.Helper()
	var c completion
	if err := json.Unmarshal(body, &c); err != nil {
		t.Fatal(err)
	}
	for _, choice := range c.Choices {
		for len(all) <= choice.Index {
			all = append(all, said{})
		}
		s := &all[choice.Index]
		s.Text += choice.Text
		if choice.FinishReason != nil {
			s.Finish += *choice.FinishReason
		}
		if choice.Logprobs != nil {
			s.Tokens = append(s.Tokens, choice.Logprobs.Tokens...)
			s.Offsets = append(s.Offsets, choice.Logprobs.TextOffset...)
		}
	}
	return all
}

// TestCompletionBorders splits a text, its characters and stop strings at random into
// tokens. The reply depends on none of the splits, streamed or not.
func TestCompletionBorders(t *testing.T) {
	const text = "Ärger ✓ STOP 👍\n\nENDE und STOPP<think>x</think>"
	stops := [][]string{nil, {"STOP"}, {"STOPP"}, {"👍"}, {"\n\n"}, {"ENDE", "END"}, {"</think>"}, {"nothing", "✓ S"}, {"Ä"}}
	random := rand.New(rand.NewPCG(1, 2))
	const cuts = 300
	replies := make([]string, cuts)
	for i := range replies {
		replies[i] = fmt.Sprintf("{when: {contains: '#%d '}, pieces: [%s]}", i, strings.Join(cutUp(random, text), ", "))
	}
	h := newHandler(t, handlers.Config{Engine: playing(t, "models: {m: {format: hermes, replies: ["+strings.Join(replies, ", ")+"]}}")})
	for i, pieces := range replies {
		prompt, stop, echo := fmt.Sprintf("Stopp: ✓ #%d ", i), stops[i%len(stops)], i%2 == 0
		body := map[string]any{"model": "m", "prompt": prompt, "stop": stop, "n": 1 + i%3, "echo": echo, "logprobs": i % 6}
		whole, streamed := complete(t, h, body)
		if diff := cmp.Diff(whole, streamed); diff != "" {
			t.Fatalf("%s\nwhole and streamed differ:\n%s", pieces, diff)
		}
		want, finish := cutAt(text, stop)
		if echo {
			want = prompt + want
		}
		for _, s := range whole {
			if s.Text != want || s.Finish != finish {
				t.Fatalf("%s, stop %q: %q, %s; want %q, %s", pieces, stop, s.Text, s.Finish, want, finish)
			}
			checkOffsets(t, s)
		}
	}
}

// cutUp cuts a text into tokens of up to six bytes, as a script has them.
func cutUp(random *rand.Rand, text string) []string {
	var pieces []string
	for text != "" {
		n := 1 + random.IntN(min(6, len(text)))
		pieces = append(pieces, fmt.Sprintf("{base64: %q}", base64.StdEncoding.EncodeToString([]byte(text[:n]))))
		text = text[n:]
	}
	return pieces
}

// cutAt returns a text up to the stop string that is complete first.
func cutAt(text string, stops []string) (string, string) {
	for end := range len(text) + 1 {
		longest := ""
		for _, stop := range stops {
			if strings.HasSuffix(text[:end], stop) && len(stop) > len(longest) {
				longest = stop
			}
		}
		if longest != "" {
			return text[:end-len(longest)], "stop"
		}
	}
	return text, "stop"
}

// checkOffsets looks for each token of whole characters at its offset.
func checkOffsets(t *testing.T, s said) {
	t.Helper()
	characters := []rune(s.Text)
	for i, token := range s.Tokens {
		at := s.Offsets[i]
		if at > len(characters) {
			t.Errorf("token %d of %q begins at %d", i, s.Text, at)
			continue
		}
		rest := string(characters[at:])
		if !strings.HasPrefix(token, "bytes:") && !strings.HasPrefix(rest, token) && !strings.HasPrefix(token, rest) {
			t.Errorf("token %d of %q is %q, and at %d is %q", i, s.Text, token, at, rest)
		}
	}
}

func TestCompletionErrors(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {context: 8, replies: [{pieces: [x, y]}]}, gap: {fim: true, replies: [{pieces: [x]}]}}`)})
	document := newHandler(t, handlers.Config{Profile: openapi.ProfileDocument, Engine: playing(t, `models: {m: {replies: [{pieces: [x]}]}}`)})
	for _, tt := range []struct {
		name        string
		h           http.Handler
		body        string
		status      int
		param, word string
	}{
		{"a text", h, `{"model":"m","prompt":"a b"}`, 200, "", ""},
		{"a list of a text", h, `{"model":"m","prompt":["a b"]}`, 200, "", ""},
		{"a list, by the document", document, `{"model":"m","prompt":["a b"]}`, 400, "prompt", "interface document"},
		{"two texts", h, `{"model":"m","prompt":["a","b"]}`, 400, "prompt", "a request for each"},
		{"no text", h, `{"model":"m","prompt":[]}`, 400, "prompt", "must not be empty"},
		{"tokens", h, `{"model":"m","prompt":[1,2]}`, 400, "prompt", "as text"},
		{"lists of tokens", h, `{"model":"m","prompt":[[1,2]]}`, 400, "prompt", "as text"},
		{"null", h, `{"model":"m","prompt":null}`, 400, "prompt", "required"},
		{"neither", h, `{"model":"m","prompt":{}}`, 400, "prompt", "must be"},
		{"a gap", h, `{"model":"gap","prompt":"a","suffix":"b"}`, 200, "", ""},
		{"a gap, for a model without", h, `{"model":"m","prompt":"a","suffix":"b"}`, 400, "suffix", "fill in the middle"},
		{"the best of two, streamed", h, `{"model":"m","prompt":"a","best_of":2,"stream":true}`, 400, "best_of", "streamed"},
		{"the best of too few", h, `{"model":"m","prompt":"a","n":3,"best_of":2}`, 400, "best_of", "at least n"},
		{"too long", h, `{"model":"m","prompt":"a b c d e f g h i"}`, 400, "prompt", "9 tokens, and the model m takes at most 8"},
		{"too long, streamed", h, `{"model":"m","prompt":"a b c d e f g h i","stream":true}`, 400, "prompt", "9 tokens, and the model m takes at most 8"},
		{"another model", h, `{"model":"x","prompt":"a"}`, 404, "model", "does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := post(t, tt.h, "/v1/completions", []byte(tt.body))
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d\n%s", w.Code, tt.status, w.Body)
			}
			if tt.status == 200 {
				return
			}
			e, _ := errorOf(t, w.Body)
			if text(e.Param) != tt.param || !strings.Contains(e.Message, tt.word) {
				t.Errorf("param %q, message %q; want %q and %q", text(e.Param), e.Message, tt.param, tt.word)
			}
		})
	}
}

// TestCompletionCounts checks that the tokens of all continuations are counted,
// also of those that were not good enough.
func TestCompletionCounts(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {replies: [{pieces: [x, y]}]}}`)})
	for body, want := range map[string]int{
		`{"model":"m","prompt":"a"}`:                                        2,
		`{"model":"m","prompt":"a","n":2,"best_of":5}`:                      10,
		`{"model":"m","prompt":"a","echo":true,"max_tokens":0}`:             0,
		`{"model":"m","prompt":"a b","echo":true,"logprobs":1,"n":2}`:       4,
		`{"model":"m","prompt":"a","stop":"y"}`:                             2,
		`{"model":"m","prompt":"a","max_tokens":1,"n":3,"logprobs":null}`:   3,
		`{"model":"m","prompt":"a","max_tokens":null,"best_of":3,"n":null}`: 6,
	} {
		w := post(t, h, "/v1/completions", []byte(body))
		var c completion
		if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil || w.Code != 200 {
			t.Fatalf("status %d, %v\n%s", w.Code, err, w.Body)
		}
		if c.Usage.CompletionTokens != want {
			t.Errorf("%s: %d tokens are counted, want %d", body, c.Usage.CompletionTokens, want)
		}
	}
}
