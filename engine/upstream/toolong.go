package upstream

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/diglot/diglot/engine"
)

// A prompt that leaves no room, in the words of servers.
var tooLongWords = regexp.MustCompile(`(?i)` +
	`maximum context length` + // OpenAI and those that repeat its words, vLLM, Mistral, OpenRouter
	`|context length of` + // LM Studio, SGLang
	`|exceeds the available context size` + // llama-server
	`|longer than the (?:model's context length|maximum model length)` + // SGLang; vLLM
	`|exceed context window of` + // llama-cpp-python
	`|maximum prompt length` + // xAI
	`|prompt is too long` + // Anthropic, Fireworks
	`|input token count .*exceeds the maximum` + // Gemini
	`|input is too long for requested model` + // Bedrock
	`|context window exceeds limit` + // MiniMax
	"|`?inputs`? (?:tokens \\+ `?max_new_tokens`? )?must (?:be|have)" + // TGI
	`|reduce the length of the (?:messages|prompt)` + // Groq, Cerebras
	`|context_length_exceeded|ContextWindowExceeded`) // LiteLLM and others that quote

// tooLong reports whether the prompt leaves no room.
func (r refusal) tooLong() bool {
	return r.code == "context_length_exceeded" || r.kind == "exceed_context_size_error" || tooLongWords.MatchString(r.message)
}

var (
	// The counts that stand beside the word, and those behind a word that is
	// said of prompts.
	countOfTokens = regexp.MustCompile("(?i)" +
		"\\b(\\d+)(?: `?\\w+`?)? tokens" +
		"|(?:current length is|given:|too long:|count \\(|tokens \\(|\\(length) (\\d+)" +
		"|(?:count|tokens) \\((\\d+)\\)")

	limitOfTokens = regexp.MustCompile("(?i)(?:" +
		"at most|maximum context length(?: is|:| of)?|context length(?: of(?: only)?)?|context size|limit of|maximum model length of" +
		"|context window of|maximum prompt length is|tokens >|while limit is|tokens allowed|must be <=|must have less than|too large for model with" +
		") \\(?(\\d+)")
)

// contextLength passes on the numbers, which clients use to shorten their
// conversation.
func (r refusal) contextLength(op operation) *engine.Error {
	err := engine.Errorf(engine.CodeContextLength, "%s", cmp.Or(r.message, "The prompt is too long for the model."))
	err.Tokens, err.Limit = r.tokens, r.limit
	if m := limitOfTokens.FindStringSubmatch(r.message); err.Limit == 0 && m != nil {
		err.Limit, _ = strconv.Atoi(m[1])
	}
	for _, m := range countOfTokens.FindAllStringSubmatch(r.message, -1) {
		if n, _ := strconv.Atoi(cmp.Or(m[1:]...)); r.tokens == 0 && n > err.Limit {
			err.Tokens = max(err.Tokens, n)
		}
	}
	if err.Tokens <= err.Limit || err.Limit == 0 {
		err.Tokens, err.Limit = 0, 0 // a number that was misread is worse than none
	}
	p := place(r.param)
	if p.Field == "" {
		p.Field = promptFields[op.name]
	}
	return err.At(p)
}
