package gosdk

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
)

type anthropicCase struct {
	name string
	run  func(ctx context.Context, client anthropic.Client, model string, c *check)
}

func (s *suite) runAnthropic(ctx context.Context, cases []anthropicCase) {
	for _, one := range cases {
		client := anthropic.NewClient(option.WithBaseURL(s.address("anthropic", one.name)),
			option.WithAPIKey("none"), option.WithMaxRetries(0))
		var c check
		one.run(ctx, client, s.model, &c)
		s.report("anthropic", one.name, &c)
	}
}

var anthropicCases = []anthropicCase{
	{"messages/plain", anthropicPlain},
	{"messages/system-blocks", anthropicSystemBlocks},
	{"messages/stream", anthropicStream},
	{"messages/tools-auto", anthropicToolsAuto},
	{"messages/tools-any", anthropicToolsAny},
	{"messages/tools-named", anthropicToolsNamed},
	{"messages/two-calls", anthropicTwoCalls},
	{"messages/tools-stream", anthropicToolsStream},
	{"messages/tool-loop", anthropicToolLoop},
	{"messages/tool-runner", anthropicToolRunner},
	{"messages/parse", anthropicParse},
	{"messages/stop", anthropicStop},
	{"messages/length", anthropicLength},
	{"messages/thinking", anthropicThinking},
	{"messages/unknown-model", anthropicUnknownModel},
	{"messages/bad-temperature", anthropicBadTemperature},
	{"messages/crash-stream", anthropicCrashStream},
	{"count_tokens/plain", anthropicCount},
	{"models/list", anthropicModelsList},
	{"models/retrieve", anthropicModelsRetrieve},
}

func anthropicAsk(model, text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model:     model,
		MaxTokens: 100,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

func anthropicAskWeather(model, cities string) anthropic.MessageNewParams {
	params := anthropicAsk(model, "What is the weather in "+cities+"?")
	params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
		Name:        "get_weather",
		Description: anthropic.String("The weather in a city, now."),
		InputSchema: anthropic.ToolInputSchemaParam{
			Properties: map[string]any{"city": map[string]any{"type": "string"}},
			Required:   []string{"city"},
		},
	}}}
	return params
}

// usedCities are the arguments of all calls of get_weather.
func usedCities(message *anthropic.Message) string {
	var names []string
	for _, block := range message.Content {
		if block.Type == "tool_use" && block.Name == "get_weather" {
			names = append(names, cityOf(string(block.Input)))
		}
	}
	return strings.Join(names, " ")
}

// textOf is the last block's text.
func textOf(message *anthropic.Message) string {
	if len(message.Content) == 0 {
		return ""
	}
	return message.Content[len(message.Content)-1].Text
}

func anthropicPlain(ctx context.Context, client anthropic.Client, model string, c *check) {
	reply, err := client.Messages.New(ctx, anthropicAsk(model, "Hello"))
	if !c.fine(err) {
		return
	}
	equal(c, "text", textOf(reply), "Hello there!")
	equal(c, "stop reason", reply.StopReason, anthropic.StopReasonEndTurn)
	equal(c, "output tokens", reply.Usage.OutputTokens, 4)
}

func anthropicSystemBlocks(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Hello")
	params.System = []anthropic.TextBlockParam{
		{Text: "Be brief."},
		{Text: "Be kind.", CacheControl: anthropic.NewCacheControlEphemeralParam()},
	}
	params.Temperature, params.TopK = anthropic.Float(0), anthropic.Int(1)
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "text", textOf(reply), "Hello there!")
	}
}

// anthropicRead folds a stream with the SDK's own accumulator.
func anthropicRead(ctx context.Context, client anthropic.Client, params anthropic.MessageNewParams) (*anthropic.Message, error) {
	var message anthropic.Message
	stream := client.Messages.NewStreaming(ctx, params)
	for stream.Next() {
		if err := message.Accumulate(stream.Current()); err != nil {
			return &message, err
		}
	}
	return &message, stream.Err()
}

func anthropicStream(ctx context.Context, client anthropic.Client, model string, c *check) {
	message, err := anthropicRead(ctx, client, anthropicAsk(model, "Hello"))
	if !c.fine(err) {
		return
	}
	equal(c, "text", textOf(message), "Hello there!")
	equal(c, "stop reason", message.StopReason, anthropic.StopReasonEndTurn)
	equal(c, "output tokens", message.Usage.OutputTokens, 4)
}

func anthropicToolsAuto(ctx context.Context, client anthropic.Client, model string, c *check) {
	reply, err := client.Messages.New(ctx, anthropicAskWeather(model, "Paris"))
	if c.fine(err) {
		equal(c, "cities", usedCities(reply), "Paris")
		equal(c, "stop reason", reply.StopReason, anthropic.StopReasonToolUse)
	}
}

func anthropicToolsAny(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAskWeather(model, "Paris")
	params.ToolChoice.OfAny = &anthropic.ToolChoiceAnyParam{}
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "cities", usedCities(reply), "Paris")
	}
}

func anthropicToolsNamed(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAskWeather(model, "Paris")
	params.ToolChoice = anthropic.ToolChoiceParamOfTool("get_weather")
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "cities", usedCities(reply), "Paris")
	}
}

func anthropicTwoCalls(ctx context.Context, client anthropic.Client, model string, c *check) {
	reply, err := client.Messages.New(ctx, anthropicAskWeather(model, "Paris and Rome"))
	if c.fine(err) {
		equal(c, "cities", usedCities(reply), "Paris Rome")
	}
}

func anthropicToolsStream(ctx context.Context, client anthropic.Client, model string, c *check) {
	message, err := anthropicRead(ctx, client, anthropicAskWeather(model, "Paris and Rome"))
	if c.fine(err) {
		equal(c, "cities", usedCities(message), "Paris Rome")
	}
}

func anthropicToolLoop(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAskWeather(model, "Paris")
	reply, err := client.Messages.New(ctx, params)
	if !c.fine(err) || len(reply.Content) == 0 {
		c.holds(false, "no call")
		return
	}
	call := reply.Content[len(reply.Content)-1]
	params.Messages = append(params.Messages, reply.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock(call.ID, "18 degrees", false)))
	reply, err = client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "text", textOf(reply), "It is 18 degrees in Paris.")
	}
}

// weatherTool is a tool that the SDK's runner executes.
func weatherTool() (anthropic.BetaTool, error) {
	type input struct {
		City string `json:"city" jsonschema:"required,description=Name of the city"`
	}
	return toolrunner.NewBetaToolFromJSONSchema("get_weather", "The weather in a city, now.",
		func(context.Context, input) (anthropic.BetaToolResultBlockParamContentUnion, error) {
			return anthropic.BetaToolResultBlockParamContentUnion{
				OfText: &anthropic.BetaTextBlockParam{Text: "18 degrees"}}, nil
		})
}

func anthropicToolRunner(ctx context.Context, client anthropic.Client, model string, c *check) {
	tool, err := weatherTool()
	if !c.fine(err) {
		return
	}
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model: model, MaxTokens: 100,
			Messages: []anthropic.BetaMessageParam{
				anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock("What is the weather in Paris?"))},
		}})
	final, err := runner.RunToCompletion(ctx)
	if c.fine(err) {
		equal(c, "text", final.Content[len(final.Content)-1].Text, "It is 18 degrees in Paris.")
	}
}

func anthropicParse(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "The weather as JSON")
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: weatherSchema}
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "city", cityOf(textOf(reply)), "Paris")
	}
}

func anthropicStop(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Please count to five")
	params.StopSequences = []string{"ee f"}
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "text", textOf(reply), "one two thr")
		equal(c, "stop sequence", reply.StopSequence, "ee f")
	}
}

func anthropicLength(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Please count to five")
	params.MaxTokens = 2
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "stop reason", reply.StopReason, anthropic.StopReasonMaxTokens)
	}
}

func anthropicThinking(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Please think first")
	params.MaxTokens = 2000
	params.Thinking = anthropic.ThinkingConfigParamOfEnabled(1024)
	message, err := anthropicRead(ctx, client, params)
	if !c.fine(err) || len(message.Content) != 2 {
		c.holds(false, "blocks are %v", message.Content)
		return
	}
	equal(c, "thinking", strings.TrimSpace(message.Content[0].Thinking), "Two and two make four.")
	equal(c, "text", strings.TrimSpace(message.Content[1].Text), "It is four.")
}

// anthropicError is the SDK's error with the given status.
func anthropicError(c *check, err error, status int) *anthropic.Error {
	var coded *anthropic.Error
	if !errors.As(err, &coded) {
		c.holds(false, "got %v, want an API error", err)
		return &anthropic.Error{}
	}
	equal(c, "status", coded.StatusCode, status)
	return coded
}

func anthropicUnknownModel(ctx context.Context, client anthropic.Client, _ string, c *check) {
	_, err := client.Messages.New(ctx, anthropicAsk("nosuch", "Hello"))
	equal(c, "type", string(anthropicError(c, err, 404).Type()), "not_found_error")
}

func anthropicBadTemperature(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Hello")
	params.Temperature = anthropic.Float(3)
	_, err := client.Messages.New(ctx, params)
	coded := anthropicError(c, err, 400)
	equal(c, "type", string(coded.Type()), "invalid_request_error")
	c.holds(strings.Contains(coded.RawJSON(), "temperature"), "the message does not name the field: %s", coded.RawJSON())
}

func anthropicCrashStream(ctx context.Context, client anthropic.Client, model string, c *check) {
	stream := client.Messages.NewStreaming(ctx, anthropicAsk(model, "Please break down"))
	text := ""
	for stream.Next() {
		text += stream.Current().Delta.Text
	}
	equal(c, "text before the crash", text, "Hello")
	c.holds(stream.Err() != nil, "the stream ended without an error")
}

func anthropicCount(ctx context.Context, client anthropic.Client, model string, c *check) {
	params := anthropicAsk(model, "Hello")
	counted, err := client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{Model: params.Model, Messages: params.Messages})
	if !c.fine(err) {
		return
	}
	reply, err := client.Messages.New(ctx, params)
	if c.fine(err) {
		equal(c, "input tokens", counted.InputTokens, reply.Usage.InputTokens)
	}
}

func anthropicModelsList(ctx context.Context, client anthropic.Client, _ string, c *check) {
	page, err := client.Models.List(ctx, anthropic.ModelListParams{})
	if !c.fine(err) {
		return
	}
	var names []string
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	c.holds(strings.Contains(strings.Join(names, " "), "lib/sub:tag"), "models are %v", names)
}

func anthropicModelsRetrieve(ctx context.Context, client anthropic.Client, _ string, c *check) {
	one, err := client.Models.Get(ctx, "lib/sub:tag", anthropic.ModelGetParams{})
	if c.fine(err) {
		equal(c, "id", one.ID, "lib/sub:tag")
		c.holds(one.CreatedAt.Year() >= 1970, "created_at is missing in %s", one.RawJSON())
	}
}
