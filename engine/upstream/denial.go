package upstream

import (
	"regexp"
	"slices"
	"strings"
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
