package engine

import (
	"context"
	"iter"
	"slices"
)

// Checked refuses what no engine could answer, before e has any work with it.
// Whoever takes requests from outside asks it, so that no engine looks again.
func Checked(e Engine) Finder { return checked{e} }

type checked struct{ Engine }

// FindModel implements [Finder].
func (c checked) FindModel(ctx context.Context, name string) (Model, error) {
	return FindModel(ctx, c.Engine, name)
}

// Generate implements [Engine].
func (c checked) Generate(ctx context.Context, req *Request) iter.Seq2[Event, error] {
	if err := req.Check(); err != nil {
		return failure(AsError(err))
	}
	return c.Engine.Generate(ctx, req)
}

// Count implements [Engine].
func (c checked) Count(ctx context.Context, req *Request) (int, error) {
	if err := req.Check(); err != nil {
		return 0, err
	}
	return c.Engine.Count(ctx, req)
}

// Embed implements [Engine].
func (c checked) Embed(ctx context.Context, req *EmbeddingRequest) (*Embeddings, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	return c.Engine.Embed(ctx, req)
}

// Check reports what is wrong with a request, whatever its model.
func (r *Request) Check() error {
	for _, check := range []func(*Request) error{
		(*Request).checkContent, (*Request).checkTools, (*Request).checkToolChoice,
		(*Request).checkCounts, (*Request).checkSampling, (*Request).checkKinds,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkContent() error {
	if r.Prompt == nil && len(r.Messages) == 0 {
		return wrong(Place{Field: FieldMessages}, "There is no message to answer.")
	}
	n := 0
	for i, m := range r.Messages {
		for image := range Images(m.Parts) {
			if n++; n > MaxImages {
				return image.Refuse(Errorf(CodeInvalidArgument, "There are more than %d images.", MaxImages), i)
			}
		}
	}
	return nil
}

func (r *Request) checkTools() error {
	names := make(map[string]bool, len(r.Tools))
	for i, t := range r.Tools {
		if names[t.Name] {
			return wrong(Place{Field: FieldToolName, Index: i}, "Two tools are named '%s'.", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

func (r *Request) checkToolChoice() error {
	for _, name := range r.ToolChoice.Names {
		if !r.hasTool(name) {
			return wrong(Place{Field: FieldToolChoice, Path: "/name"}, "The request has no tool named '%s' that the client runs.", name)
		}
	}
	if r.ToolChoice.Mode == ToolRequired && len(r.Tools) == 0 {
		return wrong(Place{Field: FieldToolChoice}, "It wants a call, and the request has no tools that the client runs.")
	}
	return nil
}

func (r *Request) checkCounts() error {
	switch {
	case r.Choices < 0 || r.Choices > MaxChoices:
		return wrong(Place{Field: FieldChoices}, "There may be 1 to %d answers, not %d.", MaxChoices, r.Choices)
	case r.BestOf != 0 && r.BestOf < max(r.Choices, 1):
		return wrong(Place{Field: FieldBestOf}, "The best_of must be at least n, which is %d.", max(r.Choices, 1))
	case r.BestOf > MaxChoices:
		return wrong(Place{Field: FieldBestOf}, "The best of at most %d answers can be chosen.", MaxChoices)
	case r.MaxTokens != nil && *r.MaxTokens < 0:
		return wrong(Place{Field: FieldMaxTokens}, "An answer cannot have fewer than 0 tokens.")
	case r.Logprobs != nil && *r.Logprobs < 0:
		return wrong(Place{Field: FieldLogprobs}, "There cannot be fewer than 0 alternatives to a token.")
	}
	return nil
}

func (r *Request) checkSampling() error {
	for p := range SamplingParams() {
		if !p.InRange(&r.Sampling) {
			return wrong(Place{Field: Field(p.Name)}, "It must be from %v to %v.", p.Range.Min, p.Range.Max)
		}
	}
	return nil
}

// checkKinds holds what is one of a closed list against the list.
func (r *Request) checkKinds() error {
	switch {
	case !slices.Contains([]FormatKind{FormatText, FormatJSON, FormatSchema}, r.Format.Kind):
		return wrong(Place{Field: FieldFormat}, "There is no format %q.", r.Format.Kind)
	case (r.Format.Kind == FormatSchema) != (r.Format.Schema != nil):
		return wrong(Place{Field: FieldFormat}, "A schema belongs to the format %q, and to no other.", FormatSchema)
	case !slices.Contains([]ToolMode{ToolAuto, ToolNone, ToolRequired}, r.ToolChoice.Mode):
		return wrong(Place{Field: FieldToolChoice}, "There is no mode %q.", r.ToolChoice.Mode)
	}
	return r.Reasoning.check()
}

func (r Reasoning) check() error {
	switch {
	case !slices.Contains([]ReasoningMode{ReasoningDefault, ReasoningOn, ReasoningOff}, r.Mode):
		return wrong(Place{Field: FieldReasoning}, "There is no mode %q of reasoning.", r.Mode)
	case !slices.Contains([]string{"", "low", "medium", "high"}, r.Effort):
		return wrong(Place{Field: FieldReasoning}, "There is no reasoning effort %q.", r.Effort)
	}
	return nil
}

// Check reports what is wrong with a request, whatever its model.
func (r *EmbeddingRequest) Check() error {
	switch {
	case len(r.Inputs) == 0:
		return wrong(Place{Field: FieldInput}, "There is no input.")
	case r.Dimensions < 0:
		return wrong(Place{Field: FieldDimensions}, "A vector has at least one dimension.")
	}
	for i, input := range r.Inputs {
		if input.Text == "" && len(input.Tokens) == 0 {
			return wrong(Place{Field: FieldInput, Index: i}, "There is nothing in input %d to make an embedding of.", i)
		}
	}
	return nil
}

func wrong(at Place, format string, args ...any) *Error {
	return Errorf(CodeInvalidArgument, format, args...).At(at)
}
