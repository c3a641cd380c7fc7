package upstream

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// unknownFieldMessages match whole messages that a field is unknown, with nothing in them but
// its name, so that a client's words cannot imitate one. A server with another
// wording costs a second attempt per request.
var unknownFieldMessages = wholeMessages(
	`Unrecognized request arguments? supplied: (PATHS)`, // OpenAI
	`(?:Unknown|Unsupported|Unrecognized|Unexpected) (?:parameter|argument|field|property|key)s?:? ['"\x60]?(PATHS)['"\x60]?(?: is not supported with this model)?\.?(?: Use '\w+' instead\.?)?`,
	`(?:Parameter|Property|Field|Argument)?:? ?['"\x60]?(PATHS)['"\x60]?:? is (?:not supported|unsupported|unknown|not permitted)(?: with this model| by this model)?\.?`,
	`Invalid JSON payload received\. Unknown name "(PATHS)"(?: at '(?:messages\[\d+\]|stream_options)')?: Cannot find field\.?`, // Gemini
	"(?:[\\w ]*: )?unknown field `(PATHS)`(?:, expected (?:one of )?[`\\w, ]*)?(?: at line \\d+ column \\d+)?",                  // serde
	`(?:\w+Error: )?Additional properties are not allowed \('(PATHS)' (?:was|were) unexpected\)`,                                // JSON Schema
	`(PATHS): Extra inputs are not permitted`,
	`Validation error at #/(PATHS): Extra inputs are not permitted`,                                                          // Azure
	`Extra inputs are not permitted, field: '(PATHS)'(?:, value: OWN)?`,                                                      // Fireworks
	`Extra parameters \['(PATHS)'\] are not allowed when extra-parameters .{0,200}`,                                          // Azure
	`\[\{'type': 'extra_forbidden', 'loc': \('body', '(PATHS)'\), 'msg': 'Extra inputs are not permitted', 'input': OWN\}\]`, // vLLM
	`(?:1 validation error:? *)?\{'type': 'extra_forbidden', 'loc': \('body', '(PATHS)'\), 'msg': 'Extra inputs are not permitted', 'input': OWN\}`,
)

// unknownValueMessages are the same for a value that this package has chosen.
var unknownValueMessages = wholeMessages(`(?:Unsupported|Invalid) value: '(PATHS)' does not support '\w+'(?: with this model)?\.(?: Supported values are: ['\w, ]*\.?)?`)

// noDimensions match the messages of models whose vectors cannot be truncated.
var noDimensions = wholeMessages(
	`Model "[^"]*" does not support matryoshka representation, changing output dimensions will lead to poor results\.?`, // vLLM
	`This model does not support specifying dimensions\.?`,                                                              // OpenAI
)

// wholeMessages compiles expressions that match whole messages. PATHS stands for field
// paths, OWN for a value that is not the client's: a number, a boolean, or an
// object with fields of this package.
func wholeMessages(patterns ...string) []*regexp.Regexp {
	words := strings.NewReplacer(
		"PATHS", `[\w.\[\]]+(?:'?, '?[\w.\[\]]+)*`,
		"OWN", `(?:[\d.eE+-]+|[Tt]rue|[Ff]alse|\{(?:'(?:include_usage|continuous_usage_stats|enable_thinking)': (?:True|False)(?:, )?)*\})`)
	var all []*regexp.Regexp
	for _, p := range patterns {
		all = append(all, regexp.MustCompile(`^(?i:`+words.Replace(p)+`)$`))
	}
	return all
}

// unknownFieldCodes are error codes for the same; the field is in param.
var unknownFieldCodes = []string{"unknown_parameter", "unsupported_parameter", "extra_forbidden", "value_error.extra", "unrecognized_parameter", "unknown_field"}

// unknownValueCodes are those for a value.
var unknownValueCodes = []string{"unsupported_value", "literal_error", "enum"}

// rejects reports whether the refusal says that a field, or its value if it has
// one, is unknown, in words that cannot be the client's.
func (r refusal) rejects(field string) bool {
	name, _, valued := strings.Cut(field, "=")
	codes, messages := unknownFieldCodes, unknownFieldMessages
	if valued {
		codes, messages = slices.Concat(codes, unknownValueCodes), slices.Concat(messages, unknownValueMessages)
	}
	if (slices.Contains(codes, r.code) || slices.Contains(codes, r.kind)) && isSentField(r.param, name) {
		return true
	}
	if name == "dimensions" && slices.ContainsFunc(noDimensions, func(m *regexp.Regexp) bool { return m.MatchString(r.message) }) {
		return true
	}
	for _, m := range messages {
		found := m.FindStringSubmatch(strings.TrimSpace(r.message))
		if found == nil {
			continue
		}
		for path := range strings.SplitSeq(found[1], ",") {
			if isSentField(strings.Trim(path, " '"), name) {
				return true
			}
		}
	}
	return false
}

// messageField matches the path of a message's field, in the style's notation or
// pydantic's.
var messageField = regexp.MustCompile(`^messages(?:\[\d+\]|\.\d+)\.(?:\w+\.)?(\w+)$`)

// isSentField reports whether path is that of a field sent by this package, rather
// than of a field with the same name in client data.
func isSentField(path, name string) bool {
	if m := messageField.FindStringSubmatch(path); m != nil {
		return name == reasoningContent && m[1] == name
	}
	return path == name || name == usageStats && path == streamOptions+"."+usageStats ||
		name == templateArguments && strings.HasPrefix(path, templateArguments+".")
}

// tooLongWords matches the messages of servers that the prompt is too long.
var tooLongWords = regexp.MustCompile(`(?i)` +
	`maximum context length` + // OpenAI and imitations, vLLM, Mistral, OpenRouter
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
	`|context_length_exceeded|ContextWindowExceeded`) // LiteLLM and other proxies

// tooLong reports whether the prompt exceeds the context.
func (r refusal) tooLong() bool {
	return r.code == "context_length_exceeded" || r.kind == "exceed_context_size_error" || tooLongWords.MatchString(r.message)
}

var (
	// A count next to "tokens", or after words about prompts.
	countOfTokens = regexp.MustCompile("(?i)" +
		"\\b(\\d+)(?: `?\\w+`?)? tokens" +
		"|(?:current length is|given:|too long:|count \\(|tokens \\(|\\(length) (\\d+)" +
		"|(?:count|tokens) \\((\\d+)\\)")

	limitOfTokens = regexp.MustCompile("(?i)(?:" +
		"at most|maximum context length(?: is|:| of)?|context length(?: of(?: only)?)?|context size|limit of|maximum model length of" +
		"|context window of|maximum prompt length is|tokens >|while limit is|tokens allowed|must be <=|must have less than|too large for model with" +
		") \\(?(\\d+)")
)

// contextLength extracts the token counts, which clients use to shorten their
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
		err.Tokens, err.Limit = 0, 0 // a wrong number is worse than none
	}
	p := place(r.param)
	if p.Field == "" {
		p.Field = promptFields[op.name]
	}
	return err.At(p)
}
