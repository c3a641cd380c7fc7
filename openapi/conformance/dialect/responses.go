package dialect

import (
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
)

// Responses is the responses API.
func Responses() Dialect {
	return Dialect{
		Name: "responses", Style: conformance.OpenAI, Operation: "createResponse", Path: "/v1/responses",
		Logprobs: true, Tools: true, System: true, Schemas: true, Reasons: true,
		write: writeResponse, read: readResponse, stream: streamResponse,
	}
}

func writeResponse(r Request) map[string]any {
	body := plain{"model": r.Model, "store": false}
	body.set("instructions", r.System)
	body.set("max_output_tokens", r.MaxTokens)
	body.set("temperature", r.Temperature)
	body.set("top_p", r.TopP)
	body.set("stream", r.Stream)
	body["input"] = responseInput(r.Turns)
	var tools []any
	for _, t := range r.Tools {
		tool := plain{"type": "function", "name": t.Name, "strict": false}
		tool.set("description", t.Description)
		tool["parameters"] = t.Parameters
		tools = append(tools, tool)
	}
	body.set("tools", tools)
	switch r.Choice {
	case ChoiceNamed:
		body["tool_choice"] = map[string]any{"type": "function", "name": r.ChoiceName}
	default:
		body.set("tool_choice", string(r.Choice))
	}
	if r.Single {
		body["parallel_tool_calls"] = false
	}
	switch {
	case r.Schema != nil:
		body["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": "answer", "schema": r.Schema, "strict": true}}
	case r.JSON:
		body["text"] = map[string]any{"format": map[string]any{"type": "json_object"}}
	}
	if r.Logprobs != 0 {
		body["include"] = []string{"message.output_text.logprobs"}
		body.set("top_logprobs", max(r.Logprobs, 0))
	}
	return body
}

func responseInput(turns []Turn) []any {
	var all []any
	for _, turn := range turns {
		if turn.Role == "tool" {
			all = append(all, map[string]any{"type": "function_call_output", "call_id": turn.CallID, "output": turn.Text})
			continue
		}
		if turn.Think != "" {
			all = append(all, map[string]any{"type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": turn.Think}}})
		}
		switch {
		case turn.Image != "":
			all = append(all, map[string]any{"type": "message", "role": turn.Role, "content": []any{
				map[string]any{"type": "input_text", "text": turn.Text},
				map[string]any{"type": "input_image", "image_url": turn.Image},
			}})
		case turn.Text != "" || len(turn.Calls) == 0:
			all = append(all, map[string]any{"type": "message", "role": turn.Role, "content": turn.Text})
		}
		for _, c := range turn.Calls {
			all = append(all, map[string]any{"type": "function_call", "call_id": c.ID, "name": c.Name, "arguments": c.Arguments})
		}
	}
	return all
}

func readResponse(a *Answer, body Object) {
	a.ID, a.Model = body.Text("id"), body.Text("model")
	one := a.one(0)
	*one = One{Finish: FinishStop}
	for _, item := range body.Objects("output") {
		switch item.Text("type") {
		case "message":
			one.Text += joined(item.Objects("content"), "output_text", "text")
			for _, part := range item.Objects("content") {
				one.Tokens = append(one.Tokens, chatTokens(part.Objects("logprobs"))...)
			}
		case "reasoning":
			one.Reasoning += joined(item.Objects("summary"), "summary_text", "text") + joined(item.Objects("content"), "reasoning_text", "text")
		case "function_call":
			one.Calls = append(one.Calls, Call{item.Text("call_id"), item.Text("name"), item.Text("arguments")})
			one.Finish = FinishTools
		}
	}
	if reason := body.Object("incomplete_details").Text("reason"); reason == "max_output_tokens" {
		one.Finish = FinishLength
	}
	if body.Text("status") == "failed" {
		a.Error = body.Object("error").Text("message")
	}
	usage := body.Object("usage")
	a.Usage = Usage{
		Input: usage.Count("input_tokens"), Output: usage.Count("output_tokens"), Total: usage.Count("total_tokens"),
		Cached:    usage.Object("input_tokens_details").Count("cached_tokens"),
		Reasoning: usage.Object("output_tokens_details").Count("reasoning_tokens"),
	}
}

// streamResponse takes the answer from the deltas; usage and reasons come with the last
// event, whose own text is not read.
func streamResponse(a *Answer, frames []conformance.Frame) error {
	var text, reasoning strings.Builder
	arguments := map[string]string{} // by item id
	var ids []string
	for _, f := range frames {
		event, err := decode(f.Data)
		if err != nil {
			return err
		}
		switch event.Text("type") {
		case "response.output_text.delta":
			text.WriteString(event.Text("delta"))
			a.Deltas = append(a.Deltas, event.Text("delta"))
		case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
			reasoning.WriteString(event.Text("delta"))
		case "response.function_call_arguments.delta":
			arguments[event.Text("item_id")] += event.Text("delta")
		case "response.output_item.added":
			if item := event.Object("item"); item.Text("type") == "function_call" {
				ids = append(ids, item.Text("id"))
			}
		case "error":
			a.Error = event.Text("message")
		}
		if response := event.Object("response"); response != nil {
			a.IDs = append(a.IDs, response.Text("id"))
			readResponse(a, response)
		}
	}
	one := a.one(0)
	one.Text, one.Reasoning = text.String(), reasoning.String()
	for i := range min(len(ids), len(one.Calls)) {
		one.Calls[i].Arguments = arguments[ids[i]]
	}
	return nil
}
