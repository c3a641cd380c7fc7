package anthropic

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/anthropic"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// toRequest maps a request that fits the document. Its errors are rules that a schema
// cannot state. It returns the paths of the tools, too.
func toRequest(in *wire.CreateMessageRequest) (*engine.Request, []string, error) {
	c := conversation{calls: map[string]string{}}
	messages, err := c.toMessages(in)
	if err != nil {
		return nil, nil, err
	}
	tools, paths, err := toTools(in.Tools, c.changes)
	if err != nil {
		return nil, nil, err
	}
	choice, err := toToolChoice(in.ToolChoice)
	if err != nil {
		return nil, nil, err
	}
	reasoning, err := toReasoning(in, c.effort)
	if err != nil {
		return nil, nil, err
	}
	return &engine.Request{
		Model:      in.Model,
		Messages:   messages,
		Tools:      tools,
		ToolChoice: choice,
		Sampling:   toSampling(in),
		MaxTokens:  new(optional.Bound(in.MaxTokens)),
		Stop:       in.StopSequences,
		Format:     toFormat(in),
		Reasoning:  reasoning,
		Choices:    1,
	}, paths, nil
}

func toTools(in []wire.ToolParam, changes []change) ([]engine.Tool, []string, error) {
	offered, err := toOffers(in)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range changes {
		if err := offered.apply(c); err != nil {
			return nil, nil, err
		}
	}
	return offered.tools()
}

func toTool(t wire.Tool) engine.Tool {
	return engine.Tool{
		Name:        t.Name,
		Description: optional.Or(t.Description, ""),
		Parameters:  t.InputSchema,
		Strict:      optional.Or(t.Strict, false),
	}
}

func toToolChoice(in *wire.ToolChoice) (engine.ToolChoice, error) {
	var choice engine.ToolChoice
	if in == nil {
		return choice, nil
	}
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return choice, err
	}
	switch v := value.(type) {
	case wire.ToolChoiceAuto:
		choice.Single = optional.Or(v.DisableParallelToolUse, false)
	case wire.ToolChoiceNone:
		choice.Mode = engine.ToolNone
	case wire.ToolChoiceAny:
		choice.Mode, choice.Single = engine.ToolRequired, optional.Or(v.DisableParallelToolUse, false)
	case wire.ToolChoiceTool:
		choice.Mode, choice.Single = engine.ToolRequired, optional.Or(v.DisableParallelToolUse, false)
		choice.Names = []string{v.Name}
	}
	return choice, nil
}

func toSampling(in *wire.CreateMessageRequest) engine.Sampling {
	return engine.Sampling{
		Temperature: optional.Pointer(in.Temperature),
		TopP:        optional.Pointer(in.TopP),
		TopK:        optional.Count(in.TopK),
	}
}

func toFormat(in *wire.CreateMessageRequest) engine.Format {
	format, err := optional.Or(in.OutputConfig, wire.OutputConfig{}).Format.Get()
	if err != nil {
		format, err = in.OutputFormat.Get()
	}
	if err != nil {
		return engine.Format{} // absent: text
	}
	return engine.Format{Kind: engine.FormatSchema, Schema: format.Schema}
}

// toReasoning turns thinking off by default, as this style does. An effort that a message
// asked for wins over that of the request.
func toReasoning(in *wire.CreateMessageRequest, effort wire.Effort) (engine.Reasoning, error) {
	reasoning := engine.Reasoning{
		Mode:   engine.ReasoningOff,
		Effort: toEffort[cmp.Or(effort, optional.Or(optional.Or(in.OutputConfig, wire.OutputConfig{}).Effort, ""))],
	}
	if in.Thinking == nil {
		return reasoning, nil
	}
	kind, err := in.Thinking.Discriminator()
	if err != nil {
		return reasoning, err
	}
	if kind != string(wire.ThinkingConfigDisabledTypeDisabled) {
		reasoning.Mode = engine.ReasoningOn
	}
	return reasoning, nil
}

var toEffort = map[wire.Effort]string{
	wire.EffortLow:    "low",
	wire.EffortMedium: "medium",
	wire.EffortHigh:   "high",
	wire.EffortXhigh:  "high",
	wire.EffortMax:    "high",
}

// toImage maps an image, and records its path in the request.
func toImage(in wire.ImageSource, param string) (engine.Image, error) {
	image, err := toPicture(in, param)
	image.Param = param
	return image, err
}

func toPicture(in wire.ImageSource, param string) (engine.Image, error) {
	value, err := in.ValueByDiscriminator()
	if err != nil {
		return engine.Image{}, err
	}
	var source wire.Base64ImageSource
	switch value := value.(type) {
	case wire.Base64ImageSource:
		source = value
	case wire.URLImageSource:
		if scheme, _, ok := strings.Cut(value.URL, "://"); !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
			return engine.Image{}, exchange.Invalid(param+".url", "The URL of an image must begin with http:// or https://.")
		}
		return engine.Image{URL: value.URL}, nil
	default:
		return engine.Image{}, fmt.Errorf("%s is a %T, which the document refuses", param, value)
	}
	data, err := base64.StdEncoding.DecodeString(source.Data)
	if err != nil || len(data) == 0 {
		return engine.Image{}, exchange.Invalid(param+".data", "The data of the image is not base64.")
	}
	return engine.Image{Data: data, MediaType: string(source.MediaType)}, nil
}
