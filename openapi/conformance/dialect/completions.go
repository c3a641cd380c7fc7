package dialect

import "github.com/diglot/diglot/openapi/conformance"

// Completions is completions of a raw text. Turns are joined to the prompt without a
// template.
func Completions() Dialect {
	return Dialect{
		Name: "completions", Style: conformance.OpenAI, Operation: "createCompletion", Path: "/v1/completions",
		Logprobs: true, Choices: true, Seeds: true, Bias: true, Schemas: true, Stops: true,
		write: writeCompletion, read: readCompletion, stream: streamCompletion,
	}
}

func writeCompletion(r Request) map[string]any {
	body := openAI(r)
	body.set("max_tokens", r.MaxTokens)
	prompt := r.System
	for _, turn := range r.Turns {
		prompt += turn.Text
	}
	body["prompt"] = prompt
	if r.Logprobs != 0 {
		body["logprobs"] = max(r.Logprobs, 0)
	}
	return body
}

func readCompletion(a *Answer, body Object) {
	a.ID, a.Model = body.Text("id"), body.Text("model")
	for _, choice := range body.Objects("choices") {
		a.completionChoice(choice)
	}
	a.Usage = openAIUsage(body.Object("usage"))
}

func streamCompletion(a *Answer, frames []conformance.Frame) error {
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
			if text := choice.Text("text"); text != "" && choice.Count("index") == 0 {
				a.Deltas = append(a.Deltas, text)
			}
			a.completionChoice(choice)
		}
	}
	return nil
}

func (a *Answer) completionChoice(choice Object) {
	one := a.one(choice.Count("index"))
	one.Text += choice.Text("text")
	if reason := choice.Text("finish_reason"); reason != "" {
		one.Finish = openAIFinish(reason)
	}
	logprobs := choice.Object("logprobs")
	tokens, _ := logprobs["tokens"].([]any)
	values, _ := logprobs["token_logprobs"].([]any)
	offsets, _ := logprobs["text_offset"].([]any)
	tops, _ := logprobs["top_logprobs"].([]any)
	for i := range tokens {
		t := Token{Offset: -1}
		t.Text, _ = tokens[i].(string)
		if i < len(values) {
			t.Logprob, _ = values[i].(float64) // null for the first token of an echo
		}
		if i < len(offsets) {
			n, _ := offsets[i].(float64)
			t.Offset = int(n)
		}
		if i < len(tops) {
			top, _ := tops[i].(map[string]any)
			for text, value := range top {
				n, _ := value.(float64)
				t.Top = append(t.Top, Token{Text: text, Logprob: n, Offset: -1})
			}
		}
		one.Tokens = append(one.Tokens, t)
	}
}
