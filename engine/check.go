package engine

import (
	"context"
	"iter"
	"slices"
)

// Checked validates requests before they reach e, so that no engine has to.
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

// Check validates what does not depend on the model.
func (r *Request) Check() error {
	for _, check := range []func(*Request) error{
		(*Request).checkContent, (*Request).checkTools, (*Request).checkToolChoice,
		(*Request).checkCounts, (*Request).checkSampling, (*Request).checkEnums,
	} {
		if err := check(r); err != nil {
			return err
		}
	}
	return nil
}

func (r *Request) checkContent() error {
	if r.Prompt == nil && len(r.Messages) == 0 {
		return invalid(Place{Field: FieldMessages}, "There is no message to answer.")
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
			return invalid(Place{Field: FieldToolName, Index: i}, "There are two named '%s'.", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

func (r *Request) checkToolChoice() error {
	for _, name := range r.ToolChoice.Names {
		if !r.hasTool(name) {
			return invalid(Place{Field: FieldToolChoice, Path: "/name"}, "The request has none named '%s' that the client runs.", name)
		}
	}
	if r.ToolChoice.Mode == ToolRequired && len(r.Tools) == 0 {
		return invalid(Place{Field: FieldToolChoice}, "A tool call is required, but the request has no tools that the client runs.")
	}
	return nil
}

func (r *Request) checkCounts() error {
	switch {
	case r.Choices < 0 || r.Choices > MaxChoices:
		return invalid(Place{Field: FieldChoices}, "There may be 1 to %d choices, not %d.", MaxChoices, r.Choices)
	case r.BestOf != 0 && r.BestOf < max(r.Choices, 1):
		return invalid(Place{Field: FieldBestOf}, "best_of must be at least n, which is %d.", max(r.Choices, 1))
	case r.BestOf > MaxChoices:
		return invalid(Place{Field: FieldBestOf}, "best_of must be at most %d.", MaxChoices)
	case r.MaxTokens != nil && *r.MaxTokens < 0:
		return invalid(Place{Field: FieldMaxTokens}, "The token limit must not be negative.")
	case r.Logprobs != nil && *r.Logprobs < 0:
		return invalid(Place{Field: FieldLogprobs}, "The number of alternatives per token must not be negative.")
	}
	return nil
}

func (r *Request) checkSampling() error {
	for p := range SamplingParams() {
		if !p.InRange(&r.Sampling) {
			return invalid(Place{Field: Field(p.Name)}, "It must be from %v to %v.", p.Range.Min, p.Range.Max)
		}
	}
	return nil
}

func (r *Request) checkEnums() error {
	switch {
	case !slices.Contains([]FormatKind{FormatText, FormatJSON, FormatSchema}, r.Format.Kind):
		return invalid(Place{Field: FieldFormat}, "There is no format %q.", r.Format.Kind)
	case (r.Format.Kind == FormatSchema) != (r.Format.Schema != nil):
		return invalid(Place{Field: FieldFormat}, "A schema goes with the format %q, and only with it.", FormatSchema)
	case !slices.Contains([]ToolMode{ToolAuto, ToolNone, ToolRequired}, r.ToolChoice.Mode):
		return invalid(Place{Field: FieldToolChoice}, "There is no tool choice mode %q.", r.ToolChoice.Mode)
	}
	return r.Reasoning.check()
}

func (r Reasoning) check() error {
	switch {
	case !slices.Contains([]ReasoningMode{ReasoningDefault, ReasoningOn, ReasoningOff}, r.Mode):
		return invalid(Place{Field: FieldReasoning}, "There is no reasoning mode %q.", r.Mode)
	case !slices.Contains([]string{"", "low", "medium", "high"}, r.Effort):
		return invalid(Place{Field: FieldReasoning}, "There is no reasoning effort %q.", r.Effort)
	}
	return nil
}

// Check validates what does not depend on the model.
func (r *EmbeddingRequest) Check() error {
	switch {
	case len(r.Inputs) == 0:
		return invalid(Place{Field: FieldInput}, "There is no input.")
	case r.Dimensions < 0:
		return invalid(Place{Field: FieldDimensions}, "A vector has at least one dimension.")
	}
	for i, input := range r.Inputs {
		if input.Text == "" && len(input.Tokens) == 0 {
			return invalid(Place{Field: FieldInput, Index: i}, "Input %d is empty.", i)
		}
	}
	return nil
}

func invalid(at Place, format string, args ...any) *Error {
	return Errorf(CodeInvalidArgument, format, args...).At(at)
}
