package upstream

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func packed(numbers ...float32) string {
	var b []byte
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func TestEmbed(t *testing.T) {
	const used = `"usage":{"prompt_tokens":4,"total_tokens":4}`
	one := []engine.EmbeddingInput{{Text: "a"}}
	tests := []struct {
		name   string
		inputs []engine.EmbeddingInput
		dims   int
		body   string
		want   [][]float32
		code   engine.Code
	}{
		{"numbers", one, 0, `{"data":[{"index":0,"embedding":[1,0]}],` + used + `}`, [][]float32{{1, 0}}, ""},
		{"base64", one, 0, `{"data":[{"index":0,"embedding":"` + packed(0, 1) + `"}],` + used + `}`, [][]float32{{0, 1}}, ""},
		{"of another length", one, 0, `{"data":[{"index":0,"embedding":[3,4]}]}`, [][]float32{{0.6, 0.8}}, ""},
		{"out of order", []engine.EmbeddingInput{{Text: "a"}, {Text: "b"}}, 0, `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`,
			[][]float32{{1, 0}, {0, 1}}, ""},
		{"without numbers", []engine.EmbeddingInput{{Text: "a"}, {Text: "b"}}, 0, `{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}`,
			[][]float32{{1, 0}, {0, 1}}, ""},
		{"cut here", one, 2, `{"data":[{"index":0,"embedding":[3,4,9]}]}`, [][]float32{{0.6, 0.8}}, ""},
		{"too few dimensions", one, 3, `{"data":[{"index":0,"embedding":[3,4]}]}`, nil, engine.CodeInvalidArgument},
		{"too few vectors", []engine.EmbeddingInput{{Text: "a"}, {Text: "b"}}, 0, `{"data":[{"index":0,"embedding":[1,0]}]}`, nil, engine.CodeEngineCrashed},
		{"the same vector twice", []engine.EmbeddingInput{{Text: "a"}, {Text: "b"}}, 0, `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, nil, engine.CodeEngineCrashed},
		{"a vector of nobody", one, 0, `{"data":[{"index":1,"embedding":[1]}]}`, nil, engine.CodeEngineCrashed},
		{"zeros", one, 0, `{"data":[{"index":0,"embedding":[0,0]}]}`, nil, engine.CodeEngineCrashed},
		{"no base64", one, 0, `{"data":[{"index":0,"embedding":"!"}]}`, nil, engine.CodeEngineCrashed},
		{"no vector", one, 0, `{"data":[{"index":0,"embedding":{}}]}`, nil, engine.CodeEngineCrashed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, 200, tt.body) })
			got, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: tt.inputs, Dimensions: tt.dims})
			if tt.code != "" {
				if code := coded(t, err).Code; code != tt.code || got != nil {
					t.Errorf("%v, %v; want %s", got, err, tt.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Vectors); diff != "" {
				t.Errorf("vectors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmbedParts(t *testing.T) {
	e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, n int) {
		status(w, 200, []string{`{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,1]}],"usage":{"prompt_tokens":3}}`,
			`{"data":[{"index":0,"embedding":[-1,0]}],"usage":{"prompt_tokens":2}}`}[n-1])
	})
	got, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: []engine.EmbeddingInput{{Text: "a"}, {Tokens: []int32{1, 2}}, {Text: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&engine.Embeddings{Vectors: [][]float32{{1, 0}, {-1, 0}, {0, 1}}, PromptTokens: 5}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, want := range []string{`{"encoding_format":"float","input":["a","b"],"model":"m"}`, `{"encoding_format":"float","input":[[1,2]],"model":"m"}`} {
		if diff := cmp.Diff(sorted(t, want), sorted(t, p.all()[i].body)); diff != "" {
			t.Errorf("request %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestEmbedPlaces(t *testing.T) {
	inputs := []engine.EmbeddingInput{{Text: "a"}, {Tokens: []int32{1, 2, 3}}}
	e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			status(w, 200, `{"data":[{"index":0,"embedding":[1,0]}]}`)
			return
		}
		status(w, 400, `{"error":{"message":"it must have at most 2 items","param":"input[0]"}}`)
	})
	_, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: inputs})
	got := coded(t, err)
	if got.Code != engine.CodeContextLength || got.Place != (engine.Place{Field: engine.FieldInput, Index: 1}) || got.Tokens != 3 || got.Limit != 2 {
		t.Errorf("%+v", got)
	}
}
