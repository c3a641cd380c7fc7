package dialect

import (
	"encoding/json/jsontext"

	"github.com/diglot/diglot/openapi/conformance"
)

// Messages is the messages API.
func Messages() Dialect {
	return Dialect{
		Name: "messages", Style: conformance.Anthropic, Operation: "createMessage", Path: "/v1/messages",
		Tools: true, System: true, Schemas: true, Stops: true, Reasons: true,
		write: writeMessage, read: readMessage, stream: streamMessage,
	}
}

func writeMessage(r Request) map[string]any {
	body := plain{"model": r.Model, "max_tokens": max(r.MaxTokens, 1)}
	body.set("system", r.System)
	body.set("temperature", r.Temperature)
	body.set("top_p", r.TopP)
	body.set("stop_sequences", r.Stop)
	body.set("stream", r.Stream)
	body["messages"] = messageTurns(r.Turns)
	var tools []any
	for _, t := range r.Tools {
		tool := plain{"name": t.Name, "input_schema": t.Parameters}
		if t.Parameters == nil {
			tool["input_schema"] = map[string]any{"type": "object"}
		}
		tool.set("description", t.Description)
		tools = append(tools, tool)
	}
	body.set("tools", tools)
	choice := plain{}
	switch r.Choice {
	case ChoiceNamed:
		choice["type"], choice["name"] = "tool", r.ChoiceName
	case ChoiceRequired:
		choice["type"] = "any"
	case ChoiceAuto, ChoiceNone:
		choice["type"] = string(r.Choice)
	}
	if len(choice) > 0 {
		choice.set("disable_parallel_tool_use", r.Single)
		body["tool_choice"] = choice
	}
	if r.Schema != nil {
		body["output_config"] = map[string]any{"format": map[string]any{"type": "json_schema", "schema": r.Schema}}
	}
	return body
}

func messageTurns(turns []Turn) []any {
	var all []any
	for _, turn := range turns {
		var blocks []any
		if turn.Think != "" {
			blocks = append(blocks, map[string]any{"type": "thinking", "thinking": turn.Think, "signature": ""})
		}
		role := turn.Role
		switch {
		case turn.Role == "tool":
			role = "user"
			result := plain{"type": "tool_result", "tool_use_id": turn.CallID, "content": turn.Text}
			result.set("is_error", turn.IsError)
			blocks = append(blocks, result)
		case turn.Text != "":
			blocks = append(blocks, map[string]any{"type": "text", "text": turn.Text})
		}
		if turn.Image != "" {
			media, data := splitDataURL(turn.Image)
			blocks = append(blocks, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": media, "data": data}})
		}
		for _, c := range turn.Calls {
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": jsontext.Value(c.Arguments)})
		}
		all = append(all, map[string]any{"role": role, "content": blocks})
	}
	return all
}

func readMessage(a *Answer, body Object) {
	a.ID, a.Model = body.Text("id"), body.Text("model")
	one := a.one(0)
	for _, block := range body.Objects("content") {
		switch block.Text("type") {
		case "text":
			one.Text += block.Text("text")
		case "thinking":
			one.Reasoning += block.Text("thinking")
		case "tool_use":
			one.Calls = append(one.Calls, Call{block.Text("id"), block.Text("name"), encode(block["input"])})
		}
	}
	one.Finish, one.StopText = messageFinish(body.Text("stop_reason")), body.Text("stop_sequence")
	a.Usage = messageUsage(a.Usage, body.Object("usage"))
}

func streamMessage(a *Answer, frames []conformance.Frame) error {
	one := a.one(0)
	calls := map[int]int{} // block index to index of the call
	for _, f := range frames {
		event, err := decode(f.Data)
		if err != nil {
			return err
		}
		switch event.Text("type") {
		case "message_start":
			message := event.Object("message")
			a.ID, a.Model, a.IDs = message.Text("id"), message.Text("model"), append(a.IDs, message.Text("id"))
			a.Usage = messageUsage(a.Usage, message.Object("usage"))
		case "content_block_start":
			block := event.Object("content_block")
			one.Text += block.Text("text")
			one.Reasoning += block.Text("thinking")
			if block.Text("type") == "tool_use" {
				calls[event.Count("index")] = len(one.Calls)
				one.Calls = append(one.Calls, Call{ID: block.Text("id"), Name: block.Text("name")})
			}
		case "content_block_delta":
			delta := event.Object("delta")
			if text := delta.Text("text"); text != "" {
				one.Text += text
				a.Deltas = append(a.Deltas, text)
			}
			one.Reasoning += delta.Text("thinking")
			if i, ok := calls[event.Count("index")]; ok {
				one.Calls[i].Arguments += delta.Text("partial_json")
			}
		case "message_delta":
			delta := event.Object("delta")
			one.Finish, one.StopText = messageFinish(delta.Text("stop_reason")), delta.Text("stop_sequence")
			a.Usage = messageUsage(a.Usage, event.Object("usage"))
		case "error":
			a.Error = event.Object("error").Text("message")
		}
	}
	return nil
}

func messageFinish(reason string) Finish {
	switch reason {
	case "end_turn":
		return FinishStop
	case "max_tokens":
		return FinishLength
	case "tool_use":
		return FinishTools
	case "stop_sequence":
		return FinishString
	}
	return Finish(reason)
}

// messageUsage adds counts to those that came before: message_delta repeats only some.
func messageUsage(u Usage, told Object) Usage {
	if n := MessageInput(told); n >= 0 {
		u.Input = n
	}
	if n := told.Count("output_tokens"); n >= 0 {
		u.Output = n
	}
	return u
}

// MessageInput is the whole input of a message, or -1. The vendor counts what comes from the
// cache and what goes into it apart from the rest.
func MessageInput(usage Object) int {
	n := usage.Count("input_tokens")
	if n < 0 {
		return -1
	}
	return n + max(usage.Count("cache_read_input_tokens"), 0) + max(usage.Count("cache_creation_input_tokens"), 0)
}

// splitDataURL cuts data:image/png;base64,AAAA.
func splitDataURL(url string) (mediaType, data string) {
	rest := url[len("data:"):]
	for i := range rest {
		if rest[i] == ',' {
			head := rest[:i]
			for j := range head {
				if head[j] == ';' {
					return head[:j], rest[i+1:]
				}
			}
			return head, rest[i+1:]
		}
	}
	return "", ""
}
