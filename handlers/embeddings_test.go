package handlers_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine/script"
	"github.com/diglot/diglot/handlers"
)

// TestEmbeddings asks a script for vectors through the whole server.
func TestEmbeddings(t *testing.T) {
	models, err := script.Load(strings.NewReader(`models:
  both: {embedding: 8, context: 4, replies: [{pieces: [hi]}]}
  vectors: {embedding: 2}
  words: {replies: [{pieces: [hi]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	h := newHandler(t, handlers.Config{Engine: over(t, models), Log: slog.New(slog.NewTextHandler(&log, nil))})

	tests := []struct {
		name, path, body string
		status           int
		want             string // in the reply
	}{
		{"a text", "/v1/embeddings", `{"model":"vectors","input":"a b"}`, 200, `"usage":{"prompt_tokens":2,"total_tokens":2}`},
		{"several", "/v1/embeddings", `{"model":"vectors","input":["a","b c"]}`, 200, `"object":"embedding","index":1`},
		{"tokens are one input", "/v1/embeddings", `{"model":"vectors","input":[1,2,3]}`, 200, `"prompt_tokens":3`},
		{"base64", "/v1/embeddings", `{"model":"both","input":"a","encoding_format":"base64","dimensions":2}`, 200, `="}]`},
		{"a model of both kinds", "/v1/embeddings", `{"model":"both:latest","input":"a"}`, 200, `"model":"both:latest"`},
		{"a model without vectors", "/v1/embeddings", `{"model":"words","input":"a"}`, 400, `"param":"model","code":"unsupported_value"`},
		{"no model", "/v1/embeddings", `{"model":"none","input":"a"}`, 404, `"code":"model_not_found"`},
		{"too long", "/v1/embeddings", `{"model":"both","input":"a b c d e"}`, 400, `"param":"input","code":"context_length_exceeded"`},
		{"too long in a list", "/v1/embeddings", `{"model":"both","input":["a","a b c d e"]}`, 400, `Input 1 is too long: it has 5 tokens, and the model both takes at most 4`},
		{"a token that there is not", "/v1/embeddings", `{"model":"both","input":[2,2000000]}`, 400, `"param":"input","code":null`},
		{"one in a list", "/v1/embeddings", `{"model":"both","input":[[1],[2,2000000]]}`, 400, `"param":"input[1]","code":null`},
		{"blanks", "/v1/embeddings", `{"model":"both","input":["a"," "]}`, 400, `"param":"input[1]"`},
		{"dimensions", "/v1/embeddings", `{"model":"both","input":"a","dimensions":9}`, 400, `"param":"dimensions"`},
		{"chat with an embedding model", "/v1/chat/completions", `{"model":"vectors","messages":[{"role":"user","content":"a"}]}`, 400, `"param":"model"`},
		{"a message to an embedding model", "/v1/messages", `{"model":"vectors","max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, 400, `invalid_request_error`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := post(t, h, tt.path, []byte(tt.body))
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("status %d, want %d with %s\n%s", w.Code, tt.status, tt.want, w.Body)
			}
		})
	}
	if !strings.Contains(log.String(), "operation=createEmbedding status=200") || !strings.Contains(log.String(), "model=vectors prompt_tokens=2") {
		t.Errorf("the log does not say what was asked for:\n%.500s", log.String())
	}
}

// TestEmbeddingsHeader: user has no effect, which the reply says.
func TestEmbeddingsHeader(t *testing.T) {
	h := newHandler(t, handlers.Config{})
	w := post(t, h, "/v1/embeddings", []byte(`{"model":"m","input":["a","b"],"user":"u"}`))
	var got struct {
		Data []struct{ Embedding []float32 }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := [][]float32{{0.6, -0.8}, {0.6, -0.8}}
	for i := range got.Data {
		if diff := cmp.Diff(want[i], got.Data[i].Embedding); diff != "" {
			t.Errorf("vector %d (-want +got):\n%s", i, diff)
		}
	}
	if len(got.Data) != len(want) || w.Header().Get("Diglot-Ignored") != "user" {
		t.Errorf("%d vectors, ignored %q", len(got.Data), w.Header().Get("Diglot-Ignored"))
	}
}
