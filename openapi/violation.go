package openapi

import (
	"strconv"
	"strings"
)

// Rule says which kind of rule a value breaks.
type Rule string

// The closed list of rules.
const (
	RuleSyntax    Rule = "syntax"    // the text is not JSON
	RuleDepth     Rule = "depth"     // nested deeper than the document allows
	RuleValues    Rule = "values"    // more values than the document allows
	RuleDuplicate Rule = "duplicate" // a field appears twice in one object
	RuleRequired  Rule = "required"  // absent, or null where that means the same
	RuleType      Rule = "type"      // a string where a number should be, and the like
	RuleEnum      Rule = "enum"      // not one of the listed values
	RuleRange     Rule = "range"     // a number too small, too large, or not a multiple
	RuleLength    Rule = "length"    // a string, array or object of the wrong size
	RulePattern   Rule = "pattern"   // a string that does not fit its regular expression
	RuleUnique    Rule = "unique"    // equal items in a list of unique ones
	RuleUnion     Rule = "union"     // fits none of several schemas, or more than one of an exclusive set
	RuleUnknown   Rule = "unknown"   // a field that the schema does not have
	RuleRefused   Rule = "refused"   // the document marks it as refused
	RuleIgnored   Rule = "ignored"   // without effect, and the request is strict
)

// Violation is the one error to report for a request that does not fit the document. Of the
// client's values it quotes only the start of one that is not in a list.
type Violation struct {
	Pointer []string // path from the body to the value; empty: the body itself
	Rule    Rule
	Reason  string // a predicate without subject and full stop: "must be at most 2"
	Mark    Mark   // of the refused field, or of the partial one whose limit is exceeded; else zero
}

// Param is the path with indexes in brackets: messages[0].content.
func (v *Violation) Param() string {
	var b strings.Builder
	for i, token := range v.shortPath() {
		switch {
		case isIndex(token):
			b.WriteString("[" + token + "]")
		case i > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// Path is the path with dots alone: messages.0.content.
func (v *Violation) Path() string { return strings.Join(v.shortPath(), ".") }

// Documents neither nest deeper nor have longer names; free-form JSON may, and an error
// need not repeat it.
const (
	maxTokens = 32
	maxToken  = 64 // bytes
)

// shortPath is the pointer, shortened for people.
func (v *Violation) shortPath() []string {
	var tokens []string
	for i, token := range v.Pointer {
		if i == maxTokens {
			return append(tokens, "…")
		}
		if len(token) > maxToken {
			token = strings.ToValidUTF8(token[:maxToken], "") + "…"
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// note appends the note of a mark.
func (v *Violation) note(sentence string) *Violation {
	if sentence != "" {
		v.Reason += ": " + strings.TrimSuffix(sentence, ".")
	}
	return v
}

func (v *Violation) Error() string {
	if len(v.Pointer) == 0 {
		return "the body " + v.Reason
	}
	return v.Param() + " " + v.Reason
}

// isIndex guesses by form: a field named 0 looks like an index too.
func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 32)
	return err == nil
}

// atFirst reports whether the first item of the array at that depth has the wrong type:
// then the client meant another kind of array.
func (v *Violation) atFirst(depth int) bool {
	return v.Rule == RuleType && len(v.Pointer) == depth+1 && v.Pointer[depth] == "0"
}

// better reports whether v says more than w: the longer path wins, and on a tie any rule
// but type, since "must be a string" says little if another branch knows that the list is
// too long.
func (v *Violation) better(w *Violation) bool {
	if w == nil {
		return true
	}
	if len(v.Pointer) != len(w.Pointer) {
		return len(v.Pointer) > len(w.Pointer)
	}
	return w.Rule == RuleType && v.Rule != RuleType
}
