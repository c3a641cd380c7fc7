package gosdk

import (
	"context"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// The cases for a real model. A small one says what it likes, so that they
// force the form of the answer (a tool call by tool_choice, a schema) and look
// at nothing else.

var openaiReal = []openaiCase{
	{"real/plain", func(ctx context.Context, client openai.Client, model string, c *check) {
		params := openaiAsk(model, "Say hello.")
		params.MaxTokens, params.Temperature = openai.Int(16), openai.Float(0)
		reply, err := client.Chat.Completions.New(ctx, params)
		if c.fine(err) {
			c.holds(reply.Choices[0].Message.Content != "", "no content")
		}
	}},
	{"real/stream", openaiRealStream},
	{"real/tool-loop", openaiRealToolLoop},
	{"real/parse", openaiRealParse},
}

var anthropicReal = []anthropicCase{
	{"real/plain", func(ctx context.Context, client anthropic.Client, model string, c *check) {
		params := anthropicAsk(model, "Say hello.")
		params.MaxTokens, params.Temperature = 16, anthropic.Float(0)
		reply, err := client.Messages.New(ctx, params)
		if c.fine(err) {
			c.holds(textOf(reply) != "", "no text")
		}
	}},
	{"real/stream", anthropicRealStream},
	{"real/tool-loop", anthropicRealToolLoop},
	{"real/parse", anthropicRealParse},
}

func openaiRealStream(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Say hello.")
	params.MaxTokens, params.Temperature = openai.Int(16), openai.Float(0)
	acc, err := openaiRead(ctx, client, params)
	if !c.fine(err) {
		return
	}
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "the same request, not streamed", reply.Choices[0].Message.Content, acc.Choices[0].Message.Content)
	}
}

func openaiRealToolLoop(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAskWeather(model, "Paris")
	params.MaxTokens, params.Temperature = openai.Int(100), openai.Float(0)
	params.ParallelToolCalls = openai.Bool(false)
	params.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(
		openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "get_weather"})
	reply, err := client.Chat.Completions.New(ctx, params)
	if !c.fine(err) || len(reply.Choices[0].Message.ToolCalls) != 1 {
		c.holds(false, "not one call")
		return
	}
	message := reply.Choices[0].Message
	c.holds(json.Valid([]byte(message.ToolCalls[0].Function.Arguments)), "arguments are not JSON")
	params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("18 degrees", message.ToolCalls[0].ID))
	params.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("none")}
	reply, err = client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		c.holds(reply.Choices[0].Message.Content != "", "no content after the result")
	}
}

func openaiRealParse(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Paris, 18 degrees.")
	params.MaxTokens, params.Temperature = openai.Int(100), openai.Float(0)
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "weather", Schema: weatherSchema},
	}
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		followsSchema(c, reply.Choices[0].Message.Content)
	}
}

// followsSchema checks a text against weatherSchema.
func followsSchema(c *check, text string) {
	var weather struct {
		City    *string
		Degrees *int
	}
	err := json.Unmarshal([]byte(text), &weather)
	c.holds(err == nil && weather.City != nil && weather.Degrees != nil, "the answer does not follow the schema: %s", text)
}

func anthropicRealStream(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Say hello.")
	params.MaxTokens, params.Temperature = 16, anthropic.Float(0)
	message, err := anthropicRead(ctx, client, params)
	if !c.fine(err) {
		return
	}
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "the same request, not streamed", textOf(reply), textOf(message))
	}
}

func anthropicRealToolLoop(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAskWeather(model, "Paris")
	params.Temperature = anthropic.Float(0)
	params.ToolChoice.OfTool = &anthropic.ToolChoiceToolParam{
		Name: "get_weather", DisableParallelToolUse: anthropic.Bool(true)}
	reply, err := client.Messages.New(ctx, params)
	if !c.fine(err) || reply.StopReason != anthropic.StopReasonToolUse {
		c.holds(false, "no call")
		return
	}
	call := reply.Content[len(reply.Content)-1]
	params.Messages = append(params.Messages, reply.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock(call.ID, "18 degrees", false)))
	params.ToolChoice = anthropic.ToolChoiceUnionParam{OfNone: &anthropic.ToolChoiceNoneParam{}}
	params.MaxTokens = 32
	reply, err = client.Messages.New(ctx, params)
	if c.fine(err) {
		c.holds(textOf(reply) != "", "no text after the result")
	}
}

func anthropicRealParse(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Paris, 18 degrees.")
	params.Temperature = anthropic.Float(0)
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: weatherSchema}
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		followsSchema(c, textOf(reply))
	}
}
