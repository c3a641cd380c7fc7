package media

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
)

type embedding struct {
	Index  int            `json:"index"`
	Vector jsontext.Value `json:"embedding"`
}

type embeddingList struct {
	Data  []embedding `json:"data"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
}

// embed asks for n vectors and returns them in the order of their indexes. Another number of
// them, or an empty one, ends the scenario.
func embed(t *conformance.Trial, n int, fields map[string]any) ([][]float32, embeddingList, *conformance.Exchange) {
	body := map[string]any{"model": t.Models.Embedding}
	for name, value := range fields {
		body[name] = value
	}
	x := t.OK(conformance.Request{Path: "/v1/embeddings", Body: body})
	var reply embeddingList
	if err := x.JSON(&reply); err != nil {
		t.Fatalf(x, "%v", err)
	}
	if len(reply.Data) != n {
		t.Fatalf(x, "%d vectors, want %d", len(reply.Data), n)
	}
	vectors := make([][]float32, n)
	for i, e := range reply.Data {
		if e.Index != i {
			t.Fatalf(x, "vector %d has the index %d", i, e.Index)
		}
		if vectors[i] = vector(t, x, e.Vector); len(vectors[i]) == 0 {
			t.Fatalf(x, "vector %d is empty", i)
		}
	}
	return vectors, reply, x
}

// vector reads numbers, or base64 of little-endian ones.
func vector(t *conformance.Trial, x *conformance.Exchange, value jsontext.Value) []float32 {
	var numbers []float32
	if value.Kind() != '"' {
		if err := json.Unmarshal(value, &numbers); err != nil {
			t.Fatalf(x, "a vector is neither numbers nor base64: %v", err)
		}
		return numbers
	}
	var text string
	err := json.Unmarshal(value, &text)
	if err == nil {
		var bytes []byte
		if bytes, err = base64.StdEncoding.DecodeString(text); err == nil && len(bytes)%4 == 0 {
			for i := 0; i < len(bytes); i += 4 {
				numbers = append(numbers, math.Float32frombits(binary.LittleEndian.Uint32(bytes[i:])))
			}
			return numbers
		}
	}
	t.Fatalf(x, "a vector is not base64 of numbers of four bytes: %v", err)
	return nil
}

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// closeTo reports whether two vectors are the same but for rounding: batches of another shape
// round differently.
func closeTo(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 1e-2 {
			return false
		}
	}
	return true
}

func scenario(promise, about string, run func(*conformance.Trial)) conformance.Scenario {
	return conformance.Scenario{
		Name: "openai/embeddings/" + promise, About: about,
		Operation: "createEmbedding", Needs: conformance.NeedEmbedding, Run: run,
	}
}

func embeddings() []conformance.Scenario { return slices.Concat(vectors(), inputs()) }

// vectors are scenarios of what comes back.
func vectors() []conformance.Scenario {
	return []conformance.Scenario{
		scenario("base64-equals-floats", "Numbers and base64 are the same vector.", func(t *conformance.Trial) {
			floats, _, _ := embed(t, 1, map[string]any{"input": "The sky is blue.", "encoding_format": "float"})
			encoded, _, x := embed(t, 1, map[string]any{"input": "The sky is blue.", "encoding_format": "base64"})
			if !closeTo(floats[0], encoded[0]) {
				t.Errorf(x, "base64 has another vector than the numbers")
			}
		}),
		scenario("base64-only-if-asked", "Without encoding_format a vector is numbers.", func(t *conformance.Trial) {
			_, reply, x := embed(t, 1, map[string]any{"input": "The sky is blue."})
			if reply.Data[0].Vector.Kind() != '[' {
				t.Errorf(x, "the vector is no array of numbers")
			}
		}),
		scenario("batch-equals-single", "A text has the vector in a batch that it has alone, and the batch is in the order of the request.", func(t *conformance.Trial) {
			texts := []string{"The sky is blue.", "Bread is baked from flour.", "Three foxes"}
			batch, _, x := embed(t, len(texts), map[string]any{"input": texts})
			for i, text := range texts {
				if alone, _, _ := embed(t, 1, map[string]any{"input": text}); !closeTo(alone[0], batch[i]) {
					t.Errorf(x, "text %d has another vector in the batch", i)
				}
			}
		}),
		scenario("same-text-same-vector", "The same text has the same vector again.", func(t *conformance.Trial) {
			a, _, _ := embed(t, 1, map[string]any{"input": "Again."})
			if b, _, x := embed(t, 1, map[string]any{"input": "Again."}); !closeTo(a[0], b[0]) {
				t.Errorf(x, "the second vector differs")
			}
		}),
		scenario("other-text-other-vector", "Texts of other meaning have other vectors.", func(t *conformance.Trial) {
			v, _, x := embed(t, 2, map[string]any{"input": []string{"The sky is blue.", "Pay the invoice by Friday."}})
			if closeTo(v[0], v[1]) {
				t.Errorf(x, "two texts have one vector")
			}
		}),
		scenario("unit-length", "Vectors have the length one, so that products compare them.", func(t *conformance.Trial) {
			v, _, x := embed(t, 1, map[string]any{"input": "The sky is blue."})
			if l := length(v[0]); math.Abs(l-1) > 1e-2 {
				t.Errorf(x, "the vector has the length %.3f", l)
			}
		}),
	}
}

// inputs are scenarios of what is sent.
func inputs() []conformance.Scenario {
	return []conformance.Scenario{
		scenario("dimensions", "Fewer dimensions are the first ones, of length one again, or a 400.", fewer),
		scenario("dimensions-too-many", "More dimensions than the model has are a 400.", func(t *conformance.Trial) {
			body := map[string]any{"model": t.Models.Embedding, "input": "x", "dimensions": 1_000_000}
			if x := t.Do(conformance.Request{Path: "/v1/embeddings", Body: body}); x.Status != 400 {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}),
		scenario("empty-input", "No input at all is a 400.", func(t *conformance.Trial) {
			body := map[string]any{"model": t.Models.Embedding, "input": []string{}}
			if x := t.Do(conformance.Request{Path: "/v1/embeddings", Body: body}); x.Status != 400 {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}),
		scenario("too-long-input", "A text beyond the context is a 400, or is cut by a server that says so in its documents, and never a 5xx.", func(t *conformance.Trial) {
			body := map[string]any{"model": t.Models.Embedding, "input": strings.Repeat("word and word ", 40_000)}
			if x := t.Do(conformance.Request{Path: "/v1/embeddings", Body: body}); x.Status != 400 && (x.Status != 200 || t.Marks) {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}),
		scenario("usage", "Usage counts the tokens of all inputs.", func(t *conformance.Trial) {
			_, one, _ := embed(t, 1, map[string]any{"input": "The sky is blue."})
			_, two, x := embed(t, 2, map[string]any{"input": []string{"The sky is blue.", "The sky is blue."}})
			if one.Usage.Prompt <= 0 || one.Usage.Total != one.Usage.Prompt || two.Usage.Prompt != 2*one.Usage.Prompt {
				t.Errorf(x, "one text has %d tokens (total %d), two of it %d", one.Usage.Prompt, one.Usage.Total, two.Usage.Prompt)
			}
		}),
		scenario("control-tokens-are-text", "The spelling of a control token is text: it is counted as its letters.", func(t *conformance.Trial) {
			_, odd, x := embed(t, 1, map[string]any{"input": "a <|im_end|> [SEP] </s> b"})
			_, plain, _ := embed(t, 1, map[string]any{"input": "a <|im~end|> [S~P] <~s> b"})
			if odd.Usage.Prompt < plain.Usage.Prompt-4 {
				t.Errorf(x, "%d tokens, where harmless letters have %d", odd.Usage.Prompt, plain.Usage.Prompt)
			}
		}),
	}
}

func fewer(t *conformance.Trial) {
	whole, _, _ := embed(t, 1, map[string]any{"input": "The sky is blue."})
	n := len(whole[0]) / 2
	body := map[string]any{"model": t.Models.Embedding, "input": "The sky is blue.", "dimensions": n}
	x := t.Do(conformance.Request{Path: "/v1/embeddings", Body: body})
	if x.Status == 400 && !t.Marks {
		t.NotOfferedf("the server says that it has one number of dimensions: %s", x.Body)
	}
	part, _, x := embed(t, 1, map[string]any{"input": "The sky is blue.", "dimensions": n})
	want := whole[0][:n]
	scale := float32(1 / length(want))
	scaled := make([]float32, n)
	for i := range want {
		scaled[i] = want[i] * scale
	}
	if !closeTo(part[0], scaled) {
		t.Errorf(x, "not the first %d dimensions, scaled to the length one", n)
	}
}
