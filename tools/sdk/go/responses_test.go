package gosdk

import (
	"context"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

var openaiResponseCases = []openaiCase{
	{"responses/plain", responsePlain},
	{"responses/stream", responseStream},
	{"responses/tools-auto", responseToolsAuto},
	{"responses/tools-stream", responseToolsStream},
	{"responses/tool-loop", responseToolLoop},
	{"responses/parse", responseParse},
	{"responses/reasoning", responseReasoning},
	{"responses/length", responseLength},
	{"responses/unknown-model", responseUnknownModel},
	{"responses/bad-temperature", responseBadTemperature},
	{"responses/crash-stream", responseCrashStream},
}

func responseOf(model, text string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}}
}

func responseOfWeather(model, cities string) responses.ResponseNewParams {
	params := responseOf(model, "What is the weather in "+cities+"?")
	params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("get_weather", map[string]any{
		"type":                 "object",
		"properties":           map[string]any{"city": map[string]any{"type": "string"}},
		"required":             []string{"city"},
		"additionalProperties": false,
	}, true)}
	return params
}

// calledCities are the arguments of all calls.
func calledCities(reply *responses.Response) string {
	var names []string
	for _, item := range reply.Output {
		if item.Type == "function_call" {
			names = append(names, cityOf(item.AsFunctionCall().Arguments))
		}
	}
	return strings.Join(names, " ")
}

func responsePlain(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Responses.New(ctx, responseOf(model, "Hello"))
	if !c.fine(err) {
		return
	}
	equal(c, "text", reply.OutputText(), "Hello there!")
	equal(c, "status", reply.Status, responses.ResponseStatusCompleted)
	equal(c, "output tokens", reply.Usage.OutputTokens, 4)
}

// responseRead returns the text of all deltas and the response of the last
// event.
func responseRead(ctx context.Context, client openai.Client, params responses.ResponseNewParams) (text string, last responses.ResponseStreamEventUnion, err error) {
	stream := client.Responses.NewStreaming(ctx, params)
	for stream.Next() {
		if last = stream.Current(); last.Type == "response.output_text.delta" {
			text += last.Delta
		}
	}
	return text, last, stream.Err()
}

func responseStream(ctx context.Context, client openai.Client, model string, c *check) {
	text, last, err := responseRead(ctx, client, responseOf(model, "Hello"))
	if !c.fine(err) {
		return
	}
	equal(c, "deltas", text, "Hello there!")
	equal(c, "last event", last.Type, "response.completed")
	equal(c, "final text", last.Response.OutputText(), "Hello there!")
}

func responseToolsAuto(ctx context.Context, client openai.Client, model string, c *check) {
	reply, err := client.Responses.New(ctx, responseOfWeather(model, "Paris"))
	if c.fine(err) {
		equal(c, "cities", calledCities(reply), "Paris")
	}
}

func responseToolsStream(ctx context.Context, client openai.Client, model string, c *check) {
	_, last, err := responseRead(ctx, client, responseOfWeather(model, "Paris and Rome"))
	if c.fine(err) {
		equal(c, "cities", calledCities(&last.Response), "Paris Rome")
	}
}

func responseToolLoop(ctx context.Context, client openai.Client, model string, c *check) {
	params := responseOfWeather(model, "Paris")
	reply, err := client.Responses.New(ctx, params)
	if !c.fine(err) {
		return
	}
	call := reply.Output[0].AsFunctionCall()
	result := responses.ResponseInputItemParamOfFunctionCallOutput("18 degrees")
	result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("What is the weather in Paris?", responses.EasyInputMessageRoleUser),
		responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name),
		result,
	}}
	reply, err = client.Responses.New(ctx, params)
	if c.fine(err) {
		equal(c, "text", reply.OutputText(), "It is 18 degrees in Paris.")
	}
}

func responseParse(ctx context.Context, client openai.Client, model string, c *check) {
	params := responseOf(model, "The weather as JSON")
	params.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("weather", weatherSchema)
	reply, err := client.Responses.New(ctx, params)
	if c.fine(err) {
		equal(c, "city", cityOf(reply.OutputText()), "Paris")
	}
}

func responseReasoning(ctx context.Context, client openai.Client, model string, c *check) {
	params := responseOf(model, "Please think first")
	params.Reasoning = shared.ReasoningParam{Effort: shared.ReasoningEffortLow, Summary: shared.ReasoningSummaryAuto}
	reply, err := client.Responses.New(ctx, params)
	if !c.fine(err) {
		return
	}
	equal(c, "first item", reply.Output[0].Type, "reasoning")
	equal(c, "summary", strings.TrimSpace(reply.Output[0].AsReasoning().Summary[0].Text), "Two and two make four.")
	equal(c, "text", strings.TrimSpace(reply.OutputText()), "It is four.")
}

func responseLength(ctx context.Context, client openai.Client, model string, c *check) {
	params := responseOf(model, "Please count to five")
	params.MaxOutputTokens = openai.Int(2)
	reply, err := client.Responses.New(ctx, params)
	if c.fine(err) {
		equal(c, "status", reply.Status, responses.ResponseStatusIncomplete)
		equal(c, "reason", string(reply.IncompleteDetails.Reason), "max_output_tokens")
	}
}

func responseUnknownModel(ctx context.Context, client openai.Client, _ string, c *check) {
	_, err := client.Responses.New(ctx, responseOf("nosuch", "Hello"))
	equal(c, "code", openaiError(c, err, 404).Code, "model_not_found")
}

func responseBadTemperature(ctx context.Context, client openai.Client, model string, c *check) {
	params := responseOf(model, "Hello")
	params.Temperature = openai.Float(3)
	_, err := client.Responses.New(ctx, params)
	equal(c, "param", openaiError(c, err, 400).Param, "temperature")
}

func responseCrashStream(ctx context.Context, client openai.Client, model string, c *check) {
	text, _, err := responseRead(ctx, client, responseOf(model, "Please break down"))
	equal(c, "text before the crash", text, "Hello")
	c.holds(err != nil, "the stream ended without an error")
}
