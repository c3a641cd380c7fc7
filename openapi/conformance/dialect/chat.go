package dialect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/diglot/diglot/openapi/conformance"
)

// Chat is chat completions.
func Chat() Dialect {
	return Dialect{
		Name: "chat", Style: conformance.OpenAI, Operation: "createChatCompletion", Path: "/v1/chat/completions",
		Logprobs: true, Choices: true, Seeds: true, Bias: true, Tools: true, System: true, Schemas: true, Stops: true, Reasons: true,
		write: writeChat, read: readChat, stream: streamChat,
	}
}

func writeChat(r Request) map[string]any {
	body := openAI(r)
	body.set("max_completion_tokens", r.MaxTokens)
	body["messages"] = chatMessages(r)
	var tools []any
	for _, t := range r.Tools {
		f := plain{"name": t.Name}
		f.set("description", t.Description)
		f.set("parameters", t.Parameters)
		tools = append(tools, map[string]any{"type": "function", "function": f})
	}
	body.set("tools", tools)
	switch r.Choice {
	case ChoiceNamed:
		body["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": r.ChoiceName}}
	default:
		body.set("tool_choice", string(r.Choice))
	}
	if r.Single {
		body["parallel_tool_calls"] = false
	}
	if r.Logprobs != 0 {
		body["logprobs"] = true
		body.set("top_logprobs", max(r.Logprobs, 0))
	}
	return body
}

// openAI is what chat completions and completions share.
func openAI(r Request) plain {
	body := plain{"model": r.Model}
	body.set("temperature", r.Temperature)
	body.set("top_p", r.TopP)
	body.set("seed", r.Seed)
	body.set("stop", r.Stop)
	body.set("n", r.N)
	body.set("logit_bias", r.Bias)
	body.set("stream", r.Stream)
	if r.Stream && r.Usage {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	switch {
	case r.Schema != nil:
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": r.Schema, "strict": true}}
	case r.JSON:
		body["response_format"] = map[string]any{"type": "json_object"}
	}
	return body
}

func chatMessages(r Request) []any {
	var all []any
	if r.System != "" {
		all = append(all, map[string]any{"role": "system", "content": r.System})
	}
	for _, turn := range r.Turns {
		m := plain{"role": turn.Role, "content": turn.Text}
		if turn.Image != "" {
			m["content"] = []any{
				map[string]any{"type": "text", "text": turn.Text},
				map[string]any{"type": "image_url", "image_url": map[string]any{"url": turn.Image}},
			}
		}
		m.set("reasoning_content", turn.Think)
		m.set("tool_call_id", turn.CallID)
		var calls []any
		for _, c := range turn.Calls {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
		}
		m.set("tool_calls", calls)
		all = append(all, m)
	}
	return all
}

func readChat(a *Answer, body Object) {
	a.ID, a.Model = body.Text("id"), body.Text("model")
	for _, choice := range body.Objects("choices") {
		one := a.one(choice.Count("index"))
		message := choice.Object("message")
		one.Text, one.Reasoning = message.Text("content"), thought(message)
		one.Finish = openAIFinish(choice.Text("finish_reason"))
		for _, c := range message.Objects("tool_calls") {
			f := c.Object("function")
			one.Calls = append(one.Calls, Call{c.Text("id"), f.Text("name"), f.Text("arguments")})
		}
		one.Tokens = chatTokens(choice.Object("logprobs").Objects("content"))
	}
	a.Usage = openAIUsage(body.Object("usage"))
}

// thought is the reasoning of a message or delta, which the vendor's chat completions do not
// have: servers spell it in two ways, some in both.
func thought(message Object) string {
	return cmp.Or(message.Text("reasoning_content"), message.Text("reasoning"))
}

func streamChat(a *Answer, frames []conformance.Frame) error {
	for _, f := range frames {
		if f.Data == "[DONE]" {
			continue
		}
		chunk, err := decode(f.Data)
		if err != nil {
			return err
		}
		if e := chunk.Object("error"); e != nil {
			a.Error = e.Text("message")
			continue
		}
		a.ID, a.Model, a.IDs = chunk.Text("id"), chunk.Text("model"), append(a.IDs, chunk.Text("id"))
		if usage := chunk.Object("usage"); usage != nil {
			a.Usage = openAIUsage(usage)
		}
		for _, choice := range chunk.Objects("choices") {
			if err := a.chatDelta(choice); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxCalls is how many calls one answer may have. The index of a call is the server's.
const maxCalls = 256

func (a *Answer) chatDelta(choice Object) error {
	one := a.one(choice.Count("index"))
	delta := choice.Object("delta")
	if text := delta.Text("content"); text != "" {
		one.Text += text
		if one.Index == 0 {
			a.Deltas = append(a.Deltas, text)
		}
	}
	one.Reasoning += thought(delta)
	if reason := choice.Text("finish_reason"); reason != "" {
		one.Finish = openAIFinish(reason)
	}
	one.Tokens = append(one.Tokens, chatTokens(choice.Object("logprobs").Objects("content"))...)
	for _, c := range delta.Objects("tool_calls") {
		index := max(c.Count("index"), 0)
		if index >= maxCalls {
			return fmt.Errorf("a call has the index %d", index)
		}
		for len(one.Calls) <= index {
			one.Calls = append(one.Calls, Call{})
		}
		call, f := &one.Calls[index], c.Object("function")
		call.ID += c.Text("id")
		call.Name += f.Text("name")
		call.Arguments += f.Text("arguments")
	}
	return nil
}

func chatTokens(list []Object) []Token {
	var all []Token
	for _, entry := range list {
		logprob, _ := entry.Number("logprob")
		all = append(all, Token{
			Text: entry.Text("token"), Bytes: entry.Bytes("bytes"), Logprob: logprob,
			Top: chatTokens(entry.Objects("top_logprobs")), Offset: -1,
		})
	}
	return all
}

func openAIFinish(reason string) Finish {
	switch reason {
	case "tool_calls", "function_call":
		return FinishTools
	}
	return Finish(reason)
}

func openAIUsage(u Object) Usage {
	return Usage{
		Input: u.Count("prompt_tokens"), Output: u.Count("completion_tokens"), Total: u.Count("total_tokens"),
		Cached:    u.Object("prompt_tokens_details").Count("cached_tokens"),
		Reasoning: u.Object("completion_tokens_details").Count("reasoning_tokens"),
	}
}

// joined is the text of several parts.
func joined(parts []Object, kind, name string) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Text("type") == kind {
			b.WriteString(p.Text(name))
		}
	}
	return b.String()
}
