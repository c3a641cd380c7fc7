package openai

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// toRequest maps a request that fits the document. Its errors are rules that a schema
// cannot state.
func toRequest(in *wire.CreateChatCompletionRequest) (*engine.Request, error) {
	messages, err := toMessages(in.Messages)
	if err != nil {
		return nil, err
	}
	tools, choice, err := toCallable(in)
	if err != nil {
		return nil, err
	}
	sampling, err := toSampling(in)
	if err != nil {
		return nil, err
	}
	format, err := toFormat(in.ResponseFormat)
	if err != nil {
		return nil, err
	}
	stop, err := toStop(in.Stop)
	if err != nil {
		return nil, err
	}
	logprobs, err := toLogprobs(in)
	if err != nil {
		return nil, err
	}
	return &engine.Request{
		Model:      in.Model,
		Messages:   messages,
		Tools:      tools,
		ToolChoice: choice,
		Sampling:   sampling,
		MaxTokens:  toMaxTokens(in),
		Stop:       stop,
		Format:     format,
		Reasoning:  toReasoning(in.ReasoningEffort),
		Choices:    in.NOrDefault(),
		Logprobs:   logprobs,
	}, nil
}

func toTools(in []wire.ChatCompletionTool) ([]engine.Tool, error) {
	var tools []engine.Tool
	for _, t := range in {
		tool, err := toTool(t)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

func toTool(in wire.ChatCompletionTool) (engine.Tool, error) {
	t, err := in.AsChatCompletionFunctionTool()
	if err != nil {
		return engine.Tool{}, err
	}
	return engine.Tool{
		Name:        t.Function.Name,
		Description: optional.Or(t.Function.Description, ""),
		Parameters:  optional.Or(t.Function.Parameters, nil),
		Strict:      optional.Or(t.Function.Strict, false),
	}, nil
}

func toToolChoice(in *wire.CreateChatCompletionRequest) (engine.ToolChoice, error) {
	choice := engine.ToolChoice{Single: !in.ParallelToolCallsOrDefault()}
	option, err := in.ToolChoice.Get()
	if err != nil {
		return choice, nil // absent: auto
	}
	if mode, err := option.AsChatCompletionToolChoiceMode(); err == nil {
		choice.Mode = toToolMode[string(mode)]
		return choice, nil
	}
	return toNamedChoice(choice, option)
}

// toToolMode holds for chat and for responses.
var toToolMode = map[string]engine.ToolMode{
	string(wire.ChatCompletionToolChoiceModeAuto):     engine.ToolAuto,
	string(wire.ChatCompletionToolChoiceModeNone):     engine.ToolNone,
	string(wire.ChatCompletionToolChoiceModeRequired): engine.ToolRequired,
}

func toNamedChoice(choice engine.ToolChoice, option wire.ChatCompletionToolChoiceOption) (engine.ToolChoice, error) {
	object, err := option.AsChatCompletionToolChoiceObject()
	if err != nil {
		return choice, err
	}
	value, err := object.ValueByDiscriminator()
	if err != nil {
		return choice, err
	}
	switch v := value.(type) {
	case wire.ChatCompletionNamedToolChoice:
		// "Call exactly one specific function", says the vendor's guide.
		choice.Mode, choice.Names, choice.Single = engine.ToolRequired, []string{v.Function.Name}, true
	case wire.ChatCompletionAllowedToolChoice:
		if v.AllowedTools.Mode == wire.ChatCompletionAllowedToolsModeRequired {
			choice.Mode = engine.ToolRequired
		}
		for _, t := range v.AllowedTools.Tools {
			choice.Names = append(choice.Names, t.Function.Name)
		}
	}
	return choice, nil
}

func toSampling(in *wire.CreateChatCompletionRequest) (engine.Sampling, error) {
	s := engine.Sampling{
		Temperature:      optional.Pointer(in.Temperature),
		TopP:             optional.Pointer(in.TopP),
		TopK:             optional.Count(in.TopK),
		MinP:             optional.Pointer(in.MinP),
		RepeatPenalty:    optional.Pointer(in.RepeatPenalty),
		FrequencyPenalty: optional.Pointer(in.FrequencyPenalty),
		PresencePenalty:  optional.Pointer(in.PresencePenalty),
		Seed:             optional.Pointer(in.Seed),
	}
	bias, err := toLogitBias(optional.Or(in.LogitBias, nil))
	s.LogitBias = bias
	return s, err
}

func toLogitBias(in map[string]float64) (map[int]float64, error) {
	if len(in) == 0 {
		return nil, nil
	}
	bias := make(map[int]float64, len(in))
	for key, value := range in {
		token, err := strconv.Atoi(key)
		if err != nil {
			return nil, fmt.Errorf("logit_bias: %w", err) // the document lets no other key through
		}
		bias[token] = value
	}
	return bias, nil
}

// toMaxTokens prefers the current name to the older one.
func toMaxTokens(in *wire.CreateChatCompletionRequest) *int {
	if n := optional.Count(in.MaxCompletionTokens); n != nil {
		return n
	}
	return optional.Count(in.MaxTokens)
}

func toStop(in nullable.Nullable[wire.StopConfiguration]) ([]string, error) {
	stop, err := in.Get()
	if err != nil {
		return nil, nil // absent
	}
	if one, err := stop.AsStopSequence(); err == nil {
		return []string{one}, nil
	}
	return stop.AsStopSequences()
}

func toLogprobs(in *wire.CreateChatCompletionRequest) (*int, error) {
	top := optional.Pointer(in.TopLogprobs)
	if optional.Or(in.Logprobs, false) {
		if top == nil {
			top = new(int)
		}
		return top, nil
	}
	if top != nil && *top > 0 {
		return nil, exchange.Invalid("top_logprobs", "top_logprobs needs logprobs to be true.")
	}
	return nil, nil
}

func toFormat(in nullable.Nullable[wire.ResponseFormat]) (engine.Format, error) {
	format, err := in.Get()
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
	case wire.ResponseFormatJSONSchema:
		schema := optional.Or(f.JSONSchema.Schema, nil)
		if schema == nil {
			return engine.Format{Kind: engine.FormatJSON, Name: f.JSONSchema.Name}, nil
		}
		return engine.Format{Kind: engine.FormatSchema, Name: f.JSONSchema.Name, Schema: schema}, nil
	}
	return engine.Format{}, nil
}

func toReasoning(in nullable.Nullable[wire.ReasoningEffort]) engine.Reasoning {
	switch effort := optional.Or(in, ""); effort {
	case "":
		return engine.Reasoning{}
	case wire.ReasoningEffortNone:
		return engine.Reasoning{Mode: engine.ReasoningOff}
	case wire.ReasoningEffortMinimal:
		return engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}
	case wire.ReasoningEffortXhigh, wire.ReasoningEffortMax:
		return engine.Reasoning{Mode: engine.ReasoningOn, Effort: "high"}
	default:
		return engine.Reasoning{Mode: engine.ReasoningOn, Effort: string(effort)}
	}
}

// toImage maps an image, and records its path in the request.
func toImage(url, param string) (engine.Image, error) {
	image, err := toPicture(url, param)
	image.Param = param
	return image, err
}

// toPicture reads a data URI; any other URL is left to the engine. Like the vendor it does
// not compare the URI's media type with the data: clients declare one type for all images.
func toPicture(url, param string) (engine.Image, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch scheme = strings.ToLower(scheme); {
	case (scheme == "http" || scheme == "https") && strings.HasPrefix(rest, "//"):
		return engine.Image{URL: url}, nil
	case scheme != "data":
		return engine.Image{}, exchange.Invalid(param, "The URL of an image must begin with http://, https:// or data:.")
	}
	head, data, ok := strings.Cut(rest, ",")
	if !ok || !strings.HasSuffix(strings.ToLower(head), ";base64") {
		return engine.Image{}, exchange.Invalid(param, "The data URI of an image must read data:image/TYPE;base64,DATA.")
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(decoded) == 0 {
		return engine.Image{}, exchange.Invalid(param, "The data of the image is not base64.")
	}
	return engine.Image{Data: decoded}, nil
}
