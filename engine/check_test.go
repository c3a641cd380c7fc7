package engine

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answering is an engine that answers whatever it is asked.
type answering struct{ Engine }

func (answering) Generate(context.Context, *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Start{}, nil) }
}

func (answering) Count(context.Context, *Request) (int, error) { return 1, nil }

func (answering) Embed(context.Context, *EmbeddingRequest) (*Embeddings, error) {
	return &Embeddings{}, nil
}

// TestChecked asks in both ways for what no engine could answer. Without a
// place, the request is one that can be answered.
func TestChecked(t *testing.T) {
	many := slices.Repeat([]Part{Image{Param: "there"}}, MaxImages/2+1)
	for _, tt := range []struct {
		name   string
		change func(*Request)
		want   Place
		text   string
	}{
		{"all is well", func(r *Request) {
			r.Tools, r.ToolChoice = []Tool{{Name: "a"}, {Name: "b"}}, ToolChoice{Mode: ToolRequired, Names: []string{"b"}}
			r.Sampling, r.MaxTokens, r.Logprobs, r.BestOf = DefaultSampling(), new(0), new(0), 2
			r.Choices, r.Format = 2, Format{Kind: FormatSchema, Schema: []byte("{}")}
			r.Reasoning = Reasoning{Mode: ReasoningOn, Effort: "high"}
		}, Place{}, ""},
		{"no message", func(r *Request) { r.Messages = nil }, Place{Field: FieldMessages}, "no message"},
		{"a raw prompt has none", func(r *Request) { r.Messages, r.Prompt = nil, &Prompt{} }, Place{}, ""},
		{"two tools of a name", func(r *Request) { r.Tools = []Tool{{Name: "a"}, {Name: "a"}} }, Place{Field: FieldToolName, Index: 1}, "'a'"},
		{"a choice of no tool", func(r *Request) {
			r.Tools, r.ToolChoice = []Tool{{Name: "a"}}, ToolChoice{Mode: ToolRequired, Names: []string{"a", "b"}}
		}, Place{Field: FieldToolChoice, Path: "/name"}, "'b'"},
		{"a call of no tool", func(r *Request) { r.ToolChoice.Mode = ToolRequired }, Place{Field: FieldToolChoice}, "no tools"},
		{"a mode that there is not", func(r *Request) { r.ToolChoice.Mode = "x" }, Place{Field: FieldToolChoice}, `"x"`},
		{"too many images", func(r *Request) {
			r.Messages = []Message{{Parts: many}, {Parts: []Part{ToolResult{Parts: many}}}}
		}, Place{Field: FieldMessages, Index: 1}, "more than 100 images"},
		{"too many answers", func(r *Request) { r.Choices = MaxChoices + 1 }, Place{Field: FieldChoices}, "128"},
		{"the best of too few", func(r *Request) { r.Choices, r.BestOf = 3, 2 }, Place{Field: FieldBestOf}, "at least n, which is 3"},
		{"the best of too many", func(r *Request) { r.BestOf = MaxChoices + 1 }, Place{Field: FieldBestOf}, "128"},
		{"fewer tokens than none", func(r *Request) { r.MaxTokens = new(-1) }, Place{Field: FieldMaxTokens}, "negative"},
		{"fewer alternatives than none", func(r *Request) { r.Logprobs = new(-1) }, Place{Field: FieldLogprobs}, "negative"},
		{"a format that there is not", func(r *Request) { r.Format.Kind = "x" }, Place{Field: FieldFormat}, `"x"`},
		{"no schema", func(r *Request) { r.Format.Kind = FormatSchema }, Place{Field: FieldFormat}, "schema"},
		{"an effort that there is not", func(r *Request) { r.Reasoning.Effort = "x" }, Place{Field: FieldReasoning}, `"x"`},
		{"a mode of reasoning that there is not", func(r *Request) { r.Reasoning.Mode = "x" }, Place{Field: FieldReasoning}, `"x"`},
	} {
		req := &Request{Messages: []Message{{Role: RoleUser}}}
		tt.change(req)
		checkRefusal(t, tt.name, req, tt.want, tt.text)
	}
	for p := range SamplingParams() {
		for _, x := range []float64{p.Range.Min, p.Range.Max} {
			if p.Whole {
				x = min(x, 1<<62)
			}
			req := &Request{Messages: []Message{{Role: RoleUser}}}
			p.Set(&req.Sampling, p.Value(x))
			checkRefusal(t, p.Name, req, Place{}, "")
		}
		if p.Range.Max == math.MaxInt64 {
			continue
		}
		for _, x := range []float64{p.Range.Min - 1, p.Range.Max + 1} {
			req := &Request{Messages: []Message{{Role: RoleUser}}}
			p.Set(&req.Sampling, p.Value(x))
			checkRefusal(t, p.Name, req, Place{Field: Field(p.Name)}, "must be from")
		}
	}
	req := &Request{Messages: []Message{{}}, Sampling: Sampling{Temperature: new(math.NaN())}}
	checkRefusal(t, "no number", req, Place{Field: "temperature"}, "must be from")
}

func checkRefusal(t *testing.T, name string, req *Request, want Place, text string) {
	t.Helper()
	e := Checked(answering{})
	_, counted := e.Count(t.Context(), req)
	var generated error
	for _, err := range e.Generate(t.Context(), req) {
		generated = err
	}
	for _, err := range []error{counted, generated} {
		if want == (Place{}) && err == nil {
			continue
		}
		if got := AsError(err); got == nil || got.Place != want || got.Code != CodeInvalidArgument || !strings.Contains(got.Message, text) {
			t.Errorf("%s: %v, want an error at %+v with %q", name, err, want, text)
		} else if place := got.Place.Check(req.Extent()); place != nil {
			t.Errorf("%s: %v", name, place)
		}
	}
}

func TestCheckedEmbeddings(t *testing.T) {
	input := []EmbeddingInput{{Text: "a"}, {Tokens: []int32{1}}}
	for _, tt := range []struct {
		name string
		req  EmbeddingRequest
		want Place
	}{
		{"all is well", EmbeddingRequest{Inputs: input, Dimensions: 3}, Place{}},
		{"no input", EmbeddingRequest{}, Place{Field: FieldInput}},
		{"an empty one", EmbeddingRequest{Inputs: append(input[:2:2], EmbeddingInput{})}, Place{Field: FieldInput, Index: 2}},
		{"fewer dimensions than none", EmbeddingRequest{Inputs: input, Dimensions: -1}, Place{Field: FieldDimensions}},
	} {
		var got Place
		if _, err := Checked(answering{}).Embed(t.Context(), &tt.req); err != nil {
			got = AsError(err).Place
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
