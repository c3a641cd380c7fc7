package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

type openaiCase struct {
	name string
	run  func(ctx context.Context, client openai.Client, model string, c *check)
}

func (s *suite) runOpenAI(ctx context.Context, cases []openaiCase) {
	for _, one := range cases {
		client := openai.NewClient(option.WithBaseURL(s.address("openai", one.name)+"/v1"),
			option.WithAPIKey("none"), option.WithMaxRetries(0))
		var c check
		one.run(ctx, client, s.model, &c)
		s.report("openai", one.name, &c)
	}
}

var openaiCases = []openaiCase{
	{"chat/plain", openaiPlain},
	{"chat/stream", openaiStream},
	{"chat/usage-chunk", openaiUsageChunk},
	{"chat/tools-auto", openaiToolsAuto},
	{"chat/tools-required", openaiToolsRequired},
	{"chat/tools-named", openaiToolsNamed},
	{"chat/two-calls", openaiTwoCalls},
	{"chat/tools-stream", openaiToolsStream},
	{"chat/tool-loop", openaiToolLoop},
	{"chat/json-mode", openaiJSONMode},
	{"chat/parse", openaiParse},
	{"chat/logprobs", openaiLogprobs},
	{"chat/choices", openaiChoices},
	{"chat/stop", openaiStop},
	{"chat/length", openaiLength},
	{"chat/reasoning", openaiReasoning},
	{"chat/unknown-model", openaiUnknownModel},
	{"chat/bad-temperature", openaiBadTemperature},
	{"chat/crash-stream", openaiCrashStream},
	{"models/list", openaiModelsList},
	{"models/retrieve", openaiModelsRetrieve},
}

func openaiAsk(model, text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)},
	}
}

func openaiWeather() openai.ChatCompletionToolUnionParam {
	return openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name:        "get_weather",
		Description: openai.String("The weather in a city, now."),
		Parameters: shared.FunctionParameters{
			"type":       "object",
			"properties": map[string]any{"city": map[string]any{"type": "string"}},
			"required":   []string{"city"},
		},
	})
}

func openaiAskWeather(model, cities string) openai.ChatCompletionNewParams {
	params := openaiAsk(model, "What is the weather in "+cities+"?")
	params.Tools = []openai.ChatCompletionToolUnionParam{openaiWeather()}
	return params
}

var weatherSchema = map[string]any{
	"type":                 "object",
	"properties":           map[string]any{"city": map[string]any{"type": "string"}, "degrees": map[string]any{"type": "integer"}},
	"required":             []string{"city", "degrees"},
	"additionalProperties": false,
}

// cityOf reads the argument of a call of get_weather.
func cityOf(arguments string) string {
	var args struct{ City string }
	if err := json.Unmarshal([]byte(arguments), &args); err != nil {
		return err.Error()
	}
	return args.City
}

func citiesOf(calls []openai.ChatCompletionMessageToolCallUnion) string {
	var names []string
	for _, call := range calls {
		names = append(names, cityOf(call.Function.Arguments))
	}
	return strings.Join(names, " ")
}

func openaiPlain(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Chat.Completions.New(ctx, openaiAsk(model, "Hello"))
	if !c.fine(err) {
		return
	}
	equal(c, "content", reply.Choices[0].Message.Content, "Hello there!")
	equal(c, "finish reason", reply.Choices[0].FinishReason, "stop")
	equal(c, "model", reply.Model, model)
	equal(c, "completion tokens", reply.Usage.CompletionTokens, 4)
	equal(c, "total tokens", reply.Usage.TotalTokens, reply.Usage.PromptTokens+4)
}

// openaiRead folds a stream with the SDK's own accumulator.
func openaiRead(ctx context.Context, client openai.Client, params openai.ChatCompletionNewParams) (openai.ChatCompletionAccumulator, error) {
	var acc openai.ChatCompletionAccumulator
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			return acc, errors.New("the accumulator refused a chunk")
		}
	}
	return acc, stream.Err()
}

func openaiStream(ctx context.Context, client openai.Client, model string, c *check) {
	acc, err := openaiRead(ctx, client, openaiAsk(model, "Hello"))
	if !c.fine(err) {
		return
	}
	equal(c, "content", acc.Choices[0].Message.Content, "Hello there!")
	equal(c, "finish reason", acc.Choices[0].FinishReason, "stop")
	equal(c, "role", string(acc.Choices[0].Message.Role), "assistant")
}

func openaiUsageChunk(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Hello")
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	acc, err := openaiRead(ctx, client, params)
	if c.fine(err) {
		equal(c, "completion tokens", acc.Usage.CompletionTokens, 4)
	}
}

func openaiToolsAuto(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Chat.Completions.New(ctx, openaiAskWeather(model, "Paris"))
	if !c.fine(err) {
		return
	}
	equal(c, "finish reason", reply.Choices[0].FinishReason, "tool_calls")
	equal(c, "cities", citiesOf(reply.Choices[0].Message.ToolCalls), "Paris")
}

func openaiToolsRequired(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAskWeather(model, "Paris")
	params.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("required")}
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "cities", citiesOf(reply.Choices[0].Message.ToolCalls), "Paris")
	}
}

func openaiToolsNamed(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAskWeather(model, "Paris")
	params.ToolChoice = openai.ToolChoiceOptionFunctionToolChoice(
		openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "get_weather"})
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "cities", citiesOf(reply.Choices[0].Message.ToolCalls), "Paris")
	}
}

func openaiTwoCalls(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Chat.Completions.New(ctx, openaiAskWeather(model, "Paris and Rome"))
	if c.fine(err) {
		equal(c, "cities", citiesOf(reply.Choices[0].Message.ToolCalls), "Paris Rome")
	}
}

func openaiToolsStream(ctx context.Context, client openai.Client, model string, c *check) {
	acc, err := openaiRead(ctx, client, openaiAskWeather(model, "Paris and Rome"))
	if c.fine(err) {
		equal(c, "cities", citiesOf(acc.Choices[0].Message.ToolCalls), "Paris Rome")
		equal(c, "finish reason", acc.Choices[0].FinishReason, "tool_calls")
	}
}

func openaiToolLoop(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAskWeather(model, "Paris")
	reply, err := client.Chat.Completions.New(ctx, params)
	if !c.fine(err) || len(reply.Choices[0].Message.ToolCalls) != 1 {
		c.holds(false, "no call")
		return
	}
	message := reply.Choices[0].Message
	params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("18 degrees", message.ToolCalls[0].ID))
	reply, err = client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "content", reply.Choices[0].Message.Content, "It is 18 degrees in Paris.")
	}
}

func openaiJSONMode(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "The weather as JSON")
	params.ResponseFormat.OfJSONObject = &shared.ResponseFormatJSONObjectParam{}
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "city", cityOf(reply.Choices[0].Message.Content), "Paris")
	}
}

func openaiParse(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "The weather as JSON")
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: "weather", Strict: openai.Bool(true), Schema: weatherSchema},
	}
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "city", cityOf(reply.Choices[0].Message.Content), "Paris")
	}
}

func openaiLogprobs(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Please count to five")
	params.Logprobs, params.TopLogprobs = openai.Bool(true), openai.Int(2)
	reply, err := client.Chat.Completions.New(ctx, params)
	if !c.fine(err) {
		return
	}
	text := ""
	for _, token := range reply.Choices[0].Logprobs.Content {
		text += token.Token
	}
	equal(c, "tokens", text, "one two three four five")
}

func openaiChoices(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Hello")
	params.N = openai.Int(3)
	reply, err := client.Chat.Completions.New(ctx, params)
	if !c.fine(err) {
		return
	}
	equal(c, "choices", len(reply.Choices), 3)
	for i, choice := range reply.Choices {
		equal(c, "index", choice.Index, int64(i))
	}
}

func openaiStop(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Please count to five")
	params.Stop.OfStringArray = []string{"ee f"}
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "content", reply.Choices[0].Message.Content, "one two thr")
	}
}

func openaiLength(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Please count to five")
	params.MaxCompletionTokens = openai.Int(2)
	reply, err := client.Chat.Completions.New(ctx, params)
	if c.fine(err) {
		equal(c, "finish reason", reply.Choices[0].FinishReason, "length")
	}
}

func openaiReasoning(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Chat.Completions.New(ctx, openaiAsk(model, "Please think first"))
	if !c.fine(err) {
		return
	}
	message := reply.Choices[0].Message
	equal(c, "content", strings.TrimSpace(message.Content), "It is four.")
	c.holds(strings.Contains(message.JSON.ExtraFields["reasoning_content"].Raw(), "Two and two make four."),
		"no reasoning_content in %s", message.RawJSON())
}

// openaiError is the SDK's error with the given status.
func openaiError(c *check, err error, status int) *openai.Error {
	var coded *openai.Error
	if !errors.As(err, &coded) {
		c.holds(false, "got %v, want an API error", err)
		return &openai.Error{}
	}
	equal(c, "status", coded.StatusCode, status)
	return coded
}

func openaiUnknownModel(ctx context.Context, client openai.Client, _ string, c *check) {
	_, err := client.Chat.Completions.New(ctx, openaiAsk("nosuch", "Hello"))
	coded := openaiError(c, err, 404)
	equal(c, "code", coded.Code, "model_not_found")
}

func openaiBadTemperature(ctx context.Context, client openai.Client, model string, c *check) {
	params := openaiAsk(model, "Hello")
	params.Temperature = openai.Float(3)
	_, err := client.Chat.Completions.New(ctx, params)
	coded := openaiError(c, err, 400)
	equal(c, "param", coded.Param, "temperature")
	equal(c, "type", coded.Type, "invalid_request_error")
}

func openaiCrashStream(ctx context.Context, client openai.Client, model string, c *check) {
	stream := client.Chat.Completions.NewStreaming(ctx, openaiAsk(model, "Please break down"))
	text := ""
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			text += choice.Delta.Content
		}
	}
	equal(c, "text before the crash", text, "Hello")
	c.holds(stream.Err() != nil, "the stream ended without an error")
}

func openaiModelsList(ctx context.Context, client openai.Client, _ string, c *check) {
	page, err := client.Models.List(ctx)
	if !c.fine(err) {
		return
	}
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	c.holds(strings.Contains(strings.Join(names, " "), "lib/sub:tag"), "models are %v", names)
}

func openaiModelsRetrieve(ctx context.Context, client openai.Client, _ string, c *check) {
	one, err := client.Models.Get(ctx, "lib/sub:tag")
	if c.fine(err) {
		equal(c, "id", one.ID, "lib/sub:tag")
		c.holds(one.Created > 0 && one.OwnedBy != "", "created or owned_by is missing in %s", one.RawJSON())
	}
}
