package upstream

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/engine"
)

// denials are whole messages by which servers say that they do not know a member,
// with nothing in them but its name: where a client's words could stand, none of
// them fits. A server that says it in other words is asked twice each time.
var denials = denialsOf(
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

// valueDenials are the same of a value that this program has chosen.
var valueDenials = denialsOf(`(?:Unsupported|Invalid) value: '(PATHS)' does not support '\w+'(?: with this model)?\.(?: Supported values are: ['\w, ]*\.?)?`)

// noDimensions are the messages of models whose vectors cannot be cut.
var noDimensions = denialsOf(
	`Model "[^"]*" does not support matryoshka representation, changing output dimensions will lead to poor results\.?`, // vLLM
	`This model does not support specifying dimensions\.?`,                                                              // OpenAI
)

// denialsOf makes expressions that fit whole messages. PATHS are names of
// members, and OWN a value that is no client's: a number, a truth, or an object of
// the members that this package sends.
func denialsOf(patterns ...string) []*regexp.Regexp {
	words := strings.NewReplacer(
		"PATHS", `[\w.\[\]]+(?:'?, '?[\w.\[\]]+)*`,
		"OWN", `(?:[\d.eE+-]+|[Tt]rue|[Ff]alse|\{(?:'(?:include_usage|continuous_usage_stats|enable_thinking)': (?:True|False)(?:, )?)*\})`)
	var all []*regexp.Regexp
	for _, p := range patterns {
		all = append(all, regexp.MustCompile(`^(?i:`+words.Replace(p)+`)$`))
	}
	return all
}

// denialCodes are the words of servers for the same, beside which the parameter
// is told.
var denialCodes = []string{"unknown_parameter", "unsupported_parameter", "extra_forbidden", "value_error.extra", "unrecognized_parameter", "unknown_field"}

// valueCodes are those for a value.
var valueCodes = []string{"unsupported_value", "literal_error", "enum"}

// denies reports whether the server says that it does not know a member, or, of
// one with a value, the value. Only what no client can have written counts.
func (r refusal) denies(member string) bool {
	name, _, valued := strings.Cut(member, "=")
	codes, messages := denialCodes, denials
	if valued {
		codes, messages = slices.Concat(codes, valueCodes), slices.Concat(messages, valueDenials)
	}
	if (slices.Contains(codes, r.code) || slices.Contains(codes, r.kind)) && isMember(r.param, name) {
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
			if isMember(strings.Trim(path, " '"), name) {
				return true
			}
		}
	}
	return false
}

// inMessages is where a member of a message is: by the style, and with the steps
// of pydantic.
var inMessages = regexp.MustCompile(`^messages(?:\[\d+\]|\.\d+)\.(?:\w+\.)?(\w+)$`)

// isMember reports whether a path leads to a member that this package has sent,
// rather than to one of its name in what the client has.
func isMember(path, name string) bool {
	if m := inMessages.FindStringSubmatch(path); m != nil {
		return name == reasoningContent && m[1] == name
	}
	return path == name || name == usageStats && path == streamOptions+"."+usageStats ||
		name == templateArguments && strings.HasPrefix(path, templateArguments+".")
}

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
