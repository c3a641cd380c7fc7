package ask

import (
	"encoding/json/v2"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// server answers every request with one text.
func server(t *testing.T, status int, body string, seen *map[string]any) Client {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, err := io.ReadAll(r.Body); err == nil && seen != nil {
			if err := json.Unmarshal(text, seen); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(front.Close)
	return Client{URL: front.URL, HTTP: front.Client()}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		want         Reply
	}{
		{"chat", `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm. "},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":"stop"}]}

: a comment

data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}

data: [DONE]

`, Reply{Texts: map[int]string{0: "Hm. Yes"}, Finish: map[int]string{0: "stop"}, Tokens: 4, PromptTokens: 9}},
		{"usage of each choice", `data: {"choices":[{"index":0,"text":"a","finish_reason":"length"}]}

data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2},"timings":{"prompt_n":5,"predicted_n":2}}

data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2},"timings":{"prompt_n":0,"predicted_n":2}}

`, Reply{Texts: map[int]string{0: "a"}, Finish: map[int]string{0: "length"}, Tokens: 4, PromptTokens: 5}},
		{"timings of llama.cpp", `data: {"choices":[{"index":0,"text":"a","finish_reason":"length"}],"timings":{"prompt_n":5,"predicted_n":1}}

`, Reply{Texts: map[int]string{0: "a"}, Finish: map[int]string{0: "length"}, Tokens: 1, PromptTokens: 5}},
		{"two choices of completions", `data: {"choices":[{"index":1,"text":"b","finish_reason":null}]}

data: {"choices":[{"index":0,"text":"a","finish_reason":"length"}]}

data: {"choices":[{"index":1,"text":"c","finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":3}}

`, Reply{Texts: map[int]string{0: "a", 1: "bc"}, Finish: map[int]string{0: "length", 1: "length"}, Tokens: 3, PromptTokens: 1}},
	} {
		var seen map[string]any
		got, err := server(t, 200, tt.stream, &seen).Text(t.Context(), "completions", Body{"model": "m"})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got.First <= 0 || got.First > got.Last || got.Last > got.End {
			t.Errorf("%s: first %v, last %v, end %v", tt.name, got.First, got.Last, got.End)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Reply{}, "First", "Last", "End")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if seen["model"] != "m" || seen["stream"] != true {
			t.Errorf("%s: the request was %v", tt.name, seen)
		}
	}
}

func TestTextErrors(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"refused", 400, "no such model", "status 400: no such model"},
		{"an error event", 200, `data: {"error":{"message":"crashed"}}` + "\n\n", "crashed"},
		{"no JSON", 200, "data: {\n\n", "event {"},
	} {
		_, err := server(t, tt.status, tt.body, nil).Text(t.Context(), "completions", Body{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestLimited(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply Reply
		ok    bool
	}{
		{"as asked", Reply{Tokens: 16, Finish: map[int]string{0: "length", 1: "length"}}, true},
		{"too short", Reply{Tokens: 15, Finish: map[int]string{0: "length", 1: "length"}}, false},
		{"ended early", Reply{Tokens: 16, Finish: map[int]string{0: "length", 1: "stop"}}, false},
		{"a choice is missing", Reply{Tokens: 16, Finish: map[int]string{0: "length"}}, false},
	} {
		if err := tt.reply.Limited(2, 8); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
	for finish, ok := range map[string]bool{"stop": true, "length": false, "": false} {
		if err := (Reply{Tokens: 3, Finish: map[int]string{0: finish}}).Completed(); (err == nil) != ok {
			t.Errorf("finish reason %q: error %v", finish, err)
		}
	}
}

func TestVectors(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		want        [][]float64 // nil: incomplete
	}{
		{"in another order", `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`, [][]float64{{1, 2}, {3, 4}}},
		{"one is missing", `{"data":[{"index":0,"embedding":[1,2]}]}`, nil},
		{"of other sizes", `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`, nil},
		{"one too many", `{"data":[{"index":2,"embedding":[1,2]}]}`, nil},
	} {
		got, err := server(t, 200, tt.reply, nil).Vectors(t.Context(), "m", []string{"a", "b"})
		if (err == nil) != (tt.want != nil) || err != nil && !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWriter(t *testing.T) {
	w, err := NewWriter("", 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 16, 500} {
		text, err := w.Text("key", n)
		if err != nil || len(strings.Fields(text)) != n {
			t.Errorf("%d words, not %d; error %v", len(strings.Fields(text)), n, err)
		}
		again, _ := w.Text("key", n)
		other, _ := w.Text("another key", n)
		if again != text || n > 1 && other == text {
			t.Errorf("%d: the same key gives the same text: %t; another key too: %t", n, again == text, other == text)
		}
	}
	// Two tokens a word: an odd number cannot be met by words alone.
	w.count = func(text string) (int, error) {
		n := 0
		for _, word := range strings.Fields(text) {
			n++
			if word != "and" {
				n++
			}
		}
		return n, nil
	}
	if text, err := w.Text("key", 33); err != nil || len(strings.Fields(text)) != 17 {
		t.Errorf("%q, error %v", text, err)
	}
	w.count = func(string) (int, error) { return 0, nil }
	if _, err := w.Text("key", 5); err == nil {
		t.Error("a text that never has enough tokens is no error")
	}
}
