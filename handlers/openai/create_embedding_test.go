package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/openapi"
)

// createEmbedding is the operation as the document has it.
func createEmbedding(t *testing.T) *openapi.Operation {
	t.Helper()
	document, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	operation, ok := document.Operation("createEmbedding")
	if !ok {
		t.Fatal("the document has no createEmbedding")
	}
	return operation
}

func TestToEmbeddingRequest(t *testing.T) {
	operation := createEmbedding(t)
	text := func(s string) engine.EmbeddingInput { return engine.EmbeddingInput{Text: s} }
	tokens := func(n ...int32) engine.EmbeddingInput { return engine.EmbeddingInput{Tokens: n} }
	tests := []struct {
		name, body string
		inputs     []engine.EmbeddingInput
		dimensions int
	}{
		{"a text", `"input":"a"`, []engine.EmbeddingInput{text("a")}, 0},
		{"a text that looks like a list", `"input":"[1]"`, []engine.EmbeddingInput{text("[1]")}, 0},
		{"texts", `"input":["a","b"]`, []engine.EmbeddingInput{text("a"), text("b")}, 0},
		{"one text in a list", `"input":["a"]`, []engine.EmbeddingInput{text("a")}, 0},
		{"tokens are one input", `"input":[1,2,0]`, []engine.EmbeddingInput{tokens(1, 2, 0)}, 0},
		{"tokens written as fractions", `"input":[1.0,2e0]`, []engine.EmbeddingInput{tokens(1, 2)}, 0},
		{"token lists", `"input":[[1,2],[2147483647]]`, []engine.EmbeddingInput{tokens(1, 2), tokens(math.MaxInt32)}, 0},
		{"everything", `"input":"a","dimensions":3,"encoding_format":"base64","user":"u"`, []engine.EmbeddingInput{text("a")}, 3},
		{"nulls", `"input":"a","dimensions":null,"encoding_format":null,"user":null`, []engine.EmbeddingInput{text("a")}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checked, v := operation.Check([]byte(`{"model":"m",` + tt.body + `}`))
			if v != nil {
				t.Fatal(v)
			}
			var in wire.CreateEmbeddingRequest
			if err := json.Unmarshal(checked.Body, &in); err != nil {
				t.Fatalf("passed the document and cannot be bound: %v", err)
			}
			got, err := toEmbeddingRequest(&in)
			if err != nil {
				t.Fatal(err)
			}
			want := &engine.EmbeddingRequest{Model: "m", Inputs: tt.inputs, Dimensions: tt.dimensions}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestEmbeddingViolations checks what the walk along the document cannot reach: input forms
// that overlap, and large ones.
func TestEmbeddingViolations(t *testing.T) {
	operation := createEmbedding(t)
	many := func(value string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(value+",", n), ",") + "]"
	}
	tests := []struct{ name, input, param, reason string }{
		{"an empty list", `[]`, "input", "must not be empty"},
		{"an empty text", `""`, "input", "must not be empty"},
		{"an empty text in a list", `["a",""]`, "input[1]", "must not be empty"},
		{"an empty list of tokens", `[[1],[]]`, "input[1]", "must not be empty"},
		{"tokens among texts", `["a",1]`, "input[1]", "must be a string"},
		{"a text among tokens", `[1,"a"]`, "input[1]", "must be an integer"},
		{"a text among lists", `[[1],"a"]`, "input[1]", "must be an array"},
		{"a text in a list of tokens", `[[1],[1,"a"]]`, "input[1][1]", "must be an integer"},
		{"half a token", `[1,1.5]`, "input[1]", "must be an integer"},
		{"a token below nothing", `[[1],[-1]]`, "input[1][0]", "between 0 and"},
		{"a token of more than 32 bits", `[2147483648]`, "input[0]", ""},
		{"a list too deep", `[[[1]]]`, "input[0][0]", "must be an integer"},
		{"an object", `{}`, "input", "must be a string or an array"},
		{"too many texts", many(`"a"`, 2049), "input", "2048"},
		{"too many tokens", many(`1`, 2049), "input", "2048"},
		{"too many lists", many(`[1]`, 2049), "input", "2048"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, v := operation.Check([]byte(`{"model":"m","input":` + tt.input + `}`))
			if v == nil || v.Param() != tt.param || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("got %v, want %q at %s", v, tt.reason, tt.param)
			}
		})
	}
	for _, value := range []string{`"a"`, `1`, `[1]`} {
		if _, v := operation.Check([]byte(`{"model":"m","input":` + many(value, 2048) + `}`)); v != nil {
			t.Errorf("2048 of %s: %v", value, v)
		}
	}
}

// TestVectorEncodings checks that both encodings of a vector give the same numbers, bit for
// bit.
func TestVectorEncodings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edges := []float32{0, float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -math.MaxFloat32, 1e-7, 0.1, 1, 16777216, 1e21}
	for round := range 500 {
		vector := append([]float32(nil), edges[:round%len(edges)]...)
		for range 1 + random.IntN(50) {
			if x := math.Float32frombits(random.Uint32()); x-x == 0 { // finite
				vector = append(vector, x)
			}
		}
		if len(vector) == 0 {
			continue
		}
		for name, encode := range map[string]func([]float32) wire.EmbeddingVector{"float": fromNumbers, "base64": fromBytes} {
			text, err := json.Marshal(encode(vector))
			if err != nil {
				t.Fatal(err)
			}
			got := decodeVector(t, text)
			if len(got) != len(vector) {
				t.Fatalf("%s: %d numbers, want %d", name, len(got), len(vector))
			}
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(vector[i]) {
					t.Errorf("%s: number %d is %v, want %v", name, i, got[i], vector[i])
				}
			}
		}
	}
}

// decodeVector reads a vector as clients do.
func decodeVector(t *testing.T, text []byte) []float32 {
	t.Helper()
	var numbers []float32
	if text[0] == '[' {
		if err := json.Unmarshal(text, &numbers); err != nil {
			t.Fatal(err)
		}
		return numbers
	}
	var encoded string
	if err := json.Unmarshal(text, &encoded); err != nil {
		t.Fatal(err)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	numbers = make([]float32, len(data)/4)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, numbers); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// TestNumbersAreShort checks that a number has the fewest digits that identify the float32.
func TestNumbersAreShort(t *testing.T) {
	text, err := json.Marshal(fromNumbers([]float32{0.1, -0.062772, 1.0 / 3}))
	if err != nil || string(text) != "[0.1,-0.062772,0.33333334]" {
		t.Errorf("%s, %v", text, err)
	}
}
