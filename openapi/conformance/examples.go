package conformance

// examplesOf lists bodies that reach every kind of message, part and tool of an operation
// with rules beyond the schema. A field is tested in the first example that reaches it, so
// plain ones come first, and what a server or a model may lack (pictures) comes last. The
// document's own examples come after these.
func examplesOf(id string) [][]byte {
	var all [][]byte
	for _, text := range examples()[id] {
		all = append(all, []byte(text))
	}
	return all
}

// pixel is a PNG of one red pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

func examples() map[string][]string {
	return map[string][]string{
		"createChatCompletion": chatExamples(),
		"createResponse":       responseExamples(),
		"createCompletion": {
			`{"model": "m", "prompt": "p", "max_tokens": 8}`,
			`{"model": "m", "prompt": ["p"], "max_tokens": 8}`,
			`{"model": "m", "prompt": "p", "max_tokens": 8, "stop": ["x"]}`,
			`{"model": "m", "prompt": "p", "max_tokens": 8, "logit_bias": {"1": 1}}`,
			`{"model": "m", "prompt": "p", "max_tokens": 8,
				"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}`,
			`{"model": "m", "prompt": ["p"], "echo": true, "max_tokens": 8, "n": 2, "best_of": 3, "logprobs": 2,
				"logit_bias": {"1": 1}, "stop": ["x"],
				"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}`,
			`{"model": "m", "prompt": "p", "echo": true, "logprobs": 0, "n": 2, "max_tokens": 8}`,
			`{"model": "m", "prompt": "p", "suffix": "s", "max_tokens": 8}`,
		},
		"createEmbedding":    {`{"model": "m", "input": "i"}`},
		"createMessage":      messageExamples(),
		"countMessageTokens": messageExamples(),
	}
}

func chatExamples() []string {
	return []string{
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [
				{"role": "user", "content": [{"type": "text", "text": "u"}]},
				{"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
				{"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "r"}]}],
			"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "user", "content": "u"}],
			"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "user", "content": "u"}], "logit_bias": {"1": 1}, "logprobs": true}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [
				{"role": "system", "content": "s"},
				{"role": "developer", "content": [{"type": "text", "text": "d"}]},
				{"role": "user", "content": [{"type": "text", "text": "u"}]},
				{"role": "assistant",
				 "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "r"}],
				 "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
				{"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "r"}]}],
			"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
			"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
			"logit_bias": {"1": 1}, "logprobs": true}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "user", "content": "u"}],
			"tools": [{"type": "function", "function": {"name": "f"}}],
			"tool_choice": {"type": "function", "function": {"name": "f"}},
			"logprobs": true, "top_logprobs": 1}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "user", "content": "u"}],
			"tools": [{"type": "function", "function": {"name": "f"}}],
			"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]}}}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [
				{"role": "user", "content": "u"},
				{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
				{"role": "function", "name": "f", "content": "r"}],
			"functions": [{"name": "f", "parameters": {"type": "object"}}]}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "user", "content": "u"}],
			"functions": [{"name": "f"}], "function_call": {"name": "f"}}`,
		`{"model": "m", "max_completion_tokens": 16,
			"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,` + pixel + `"}}]}]}`,
	}
}

func responseExamples() []string {
	return []string{
		`{"model": "m", "max_output_tokens": 16, "instructions": "i",
			"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]}]}`,
		`{"model": "m", "max_output_tokens": 16,
			"input": [
				{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]},
				{"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
				{"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "r"}]}],
			"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}]}`,
		`{"model": "m", "max_output_tokens": 16, "input": "u",
			"text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}}}`,
		`{"model": "m", "max_output_tokens": 16, "instructions": "i",
			"input": [
				{"role": "developer", "content": "d"},
				{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]},
				{"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}], "content": [{"type": "reasoning_text", "text": "t"}]},
				{"type": "message", "role": "assistant", "content": [
					{"type": "output_text", "text": "a", "annotations": [{}], "logprobs": [{}]},
					{"type": "refusal", "refusal": "r"}]},
				{"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
				{"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "r"}]}],
			"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
			"text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
			"reasoning": {"effort": "low", "summary": "auto"},
			"include": ["message.output_text.logprobs"], "metadata": {"a": "b"}, "stream_options": {}}`,
		`{"model": "m", "max_output_tokens": 16, "input": "u",
			"tools": [{"type": "function", "name": "f"}],
			"tool_choice": {"type": "function", "name": "f"}}`,
		`{"model": "m", "max_output_tokens": 16, "input": "u",
			"tools": [{"type": "function", "name": "f"}],
			"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}}`,
		`{"model": "m", "max_output_tokens": 16,
			"input": [{"type": "message", "role": "user", "content": [
				{"type": "input_text", "text": "u"}, {"type": "input_image", "image_url": "data:image/png;base64,` + pixel + `"}]},
				{"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
				{"type": "function_call_output", "call_id": "call_1", "output": [
					{"type": "input_image", "image_url": "data:image/png;base64,` + pixel + `"}]}]}`,
	}
}

func messageExamples() []string {
	const image = `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + pixel + `"}}`
	return []string{
		`{"model": "m", "max_tokens": 16, "system": [{"type": "text", "text": "s"}],
			"messages": [
				{"role": "user", "content": "u"},
				{"role": "assistant", "content": "a"},
				{"role": "user", "content": [{"type": "text", "text": "v"}]}]}`,
		`{"model": "m", "max_tokens": 16,
			"messages": [
				{"role": "user", "content": [{"type": "text", "text": "u"}]},
				{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
				{"role": "user", "content": [
					{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "r"}]}]}],
			"tools": [{"name": "f", "input_schema": {"type": "object"}}]}`,
		`{"model": "m", "max_tokens": 16, "system": [{"type": "text", "text": "s"}],
			"messages": [
				{"role": "user", "content": [{"type": "text", "text": "u"}]},
				{"role": "system", "content": [{"type": "text", "text": "s"}], "clear_at": "never", "output_config": {"effort": "low"}},
				{"role": "assistant", "content": [
					{"type": "thinking", "thinking": "t", "signature": ""},
					{"type": "redacted_thinking", "data": "x"},
					{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
				{"role": "user", "content": [
					{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "r"}]}]}],
			"tools": [{"name": "f", "input_schema": {"type": "object"}}],
			"output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}}`,
		`{"model": "m", "max_tokens": 16,
			"messages": [{"role": "user", "content": "u"}],
			"tools": [{"name": "f", "input_schema": {"type": "object"}}],
			"tool_choice": {"type": "tool", "name": "f"}}`,
		`{"model": "m", "max_tokens": 16,
			"messages": [{"role": "user", "content": [{"type": "text", "text": "u"}, ` + image + `]},
				{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
				{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [` + image + `]}]}]}`,
		`{"model": "m", "max_tokens": 16,
			"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://example.com/pixel.png"}}]}]}`,
	}
}
