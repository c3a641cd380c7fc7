package openai

import (
	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// toResponseRequest maps a request that fits the document, and says which
// items the messages come from. What fails here is what a schema cannot state.
func toResponseRequest(in *wire.CreateResponseRequest) (*engine.Request, itemPlaces, error) {
	messages, places, err := toItemMessages(in)
	if err != nil {
		return nil, nil, err
	}
	params, err := toFunctionTools(in)
	if err != nil {
		return nil, nil, err
	}
	choice, err := toResponseToolChoice(in)
	if err != nil {
		return nil, nil, err
	}
	format, err := toTextFormat(in.Text)
	if err != nil {
		return nil, nil, err
	}
	return &engine.Request{
		Model:      in.Model,
		Messages:   messages,
		Tools:      toResponseTools(params),
		ToolChoice: choice,
		Sampling: engine.Sampling{
			Temperature:      optional.Pointer(in.Temperature),
			TopP:             optional.Pointer(in.TopP),
			FrequencyPenalty: optional.Pointer(in.FrequencyPenalty),
			PresencePenalty:  optional.Pointer(in.PresencePenalty),
		},
		MaxTokens: optional.Count(in.MaxOutputTokens),
		Format:    format,
		Reasoning: toReasoning(optional.Or(in.Reasoning, wire.ResponseReasoningParam{}).Effort),
		Choices:   1,
		Logprobs:  toResponseLogprobs(in),
		Truncate:  in.TruncationOrDefault() == wire.ResponseTruncationAuto,
	}, places, nil
}

// toFunctionTools lists the tools of the request; the document leaves nothing
// but functions.
func toFunctionTools(in *wire.CreateResponseRequest) ([]wire.ResponseFunctionToolParam, error) {
	var functions []wire.ResponseFunctionToolParam
	for _, t := range optional.Or(in.Tools, nil) {
		function, err := t.AsResponseFunctionToolParam()
		if err != nil {
			return nil, err
		}
		functions = append(functions, function)
	}
	return functions, nil
}

func toResponseTools(in []wire.ResponseFunctionToolParam) []engine.Tool {
	var tools []engine.Tool
	for _, t := range in {
		tools = append(tools, engine.Tool{
			Name:        t.Name,
			Description: optional.Or(t.Description, ""),
			Parameters:  optional.Or(t.Parameters, nil),
			Strict:      optional.Or(t.Strict, false),
		})
	}
	return tools
}

func toResponseToolChoice(in *wire.CreateResponseRequest) (engine.ToolChoice, error) {
	choice := engine.ToolChoice{Single: !in.ParallelToolCallsOrDefault()}
	option, err := in.ToolChoice.Get()
	if err != nil {
		return choice, nil // absent: auto
	}
	if mode, err := option.AsResponseToolChoiceMode(); err == nil {
		choice.Mode = toToolMode[string(mode)]
		return choice, nil
	}
	return toResponseToolNames(choice, option)
}

func toResponseToolNames(choice engine.ToolChoice, option wire.ResponseToolChoice) (engine.ToolChoice, error) {
	object, err := option.AsResponseToolChoiceObject()
	if err != nil {
		return choice, err
	}
	value, err := object.ValueByDiscriminator()
	if err != nil {
		return choice, err
	}
	switch v := value.(type) {
	case wire.ResponseToolChoiceFunction:
		choice.Mode, choice.Names, choice.Single = engine.ToolRequired, []string{v.Name}, true // as in chat
	case wire.ResponseToolChoiceAllowed:
		if v.Mode == wire.ResponseToolChoiceAllowedModeRequired {
			choice.Mode = engine.ToolRequired
		}
		for _, t := range v.Tools {
			function, err := t.AsResponseToolChoiceFunction()
			if err != nil {
				return choice, err
			}
			choice.Names = append(choice.Names, function.Name)
		}
		if len(choice.Names) > 0 {
			return choice, nil
		}
		if choice.Mode == engine.ToolRequired {
			return choice, exchange.Invalid("tool_choice.tools", "tool_choice requires a call, but lists no function.")
		}
		choice.Mode = engine.ToolNone // no names would allow all functions
	}
	return choice, nil
}

func toTextFormat(in nullable.Nullable[wire.ResponseTextParam]) (engine.Format, error) {
	format, err := optional.Or(in, wire.ResponseTextParam{}).Format.Get()
	if err != nil {
		return engine.Format{}, nil // absent: text
	}
	value, err := format.ValueByDiscriminator()
	if err != nil {
		return engine.Format{}, err
	}
	switch f := value.(type) {
	case wire.ResponseFormatJSONObject:
		return engine.Format{Kind: engine.FormatJSON}, nil
	case wire.ResponseTextFormatJSONSchema:
		return engine.Format{Kind: engine.FormatSchema, Name: f.Name, Schema: f.Schema}, nil
	}
	return engine.Format{}, nil
}

// toResponseLogprobs takes alternatives alone for a wish for log
// probabilities: without them they would have no effect.
func toResponseLogprobs(in *wire.CreateResponseRequest) *int {
	top := optional.Or(in.TopLogprobs, 0)
	// Of what can be included, the document leaves log probabilities alone.
	if len(optional.Or(in.Include, nil)) == 0 && top == 0 {
		return nil
	}
	return &top
}

// showsSummary reports whether the client wants to see thinking as a summary.
func showsSummary(in *wire.CreateResponseRequest) bool {
	return summaryOf(optional.Or(in.Reasoning, wire.ResponseReasoningParam{})) != ""
}

func summaryOf(r wire.ResponseReasoningParam) wire.ResponseReasoningSummary {
	return optional.Or(r.Summary, optional.Or(r.GenerateSummary, ""))
}
