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

func readCompletion(a *Answer, body object) {
	a.ID, a.Model = body.text("id"), body.text("model")
	for _, choice := range body.objects("choices") {
		a.completionChoice(choice)
	}
	a.Usage = openAIUsage(body.object("usage"))
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
		if e := chunk.object("error"); e != nil {
			a.Error = e.text("message")
			continue
		}
		a.ID, a.Model, a.IDs = chunk.text("id"), chunk.text("model"), append(a.IDs, chunk.text("id"))
		if usage := chunk.object("usage"); usage != nil {
			a.Usage = openAIUsage(usage)
		}
		for _, choice := range chunk.objects("choices") {
			if text := choice.text("text"); text != "" && choice.count("index") == 0 {
				a.Deltas = append(a.Deltas, text)
			}
			a.completionChoice(choice)
		}
	}
	return nil
}

func (a *Answer) completionChoice(choice object) {
	one := a.one(choice.count("index"))
	one.Text += choice.text("text")
	if reason := choice.text("finish_reason"); reason != "" {
		one.Finish = openAIFinish(reason)
	}
	logprobs := choice.object("logprobs")
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
