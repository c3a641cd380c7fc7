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
	RuleDuplicate Rule = "duplicate" // a member stands twice in one object
	RuleRequired  Rule = "required"  // absent, or null where that means the same
	RuleType      Rule = "type"      // a string where a number should be, and the like
	RuleEnum      Rule = "enum"      // not one of the listed values
	RuleRange     Rule = "range"     // a number too small, too large, or not a multiple
	RuleLength    Rule = "length"    // a string, array or object of the wrong size
	RulePattern   Rule = "pattern"   // a string that does not fit its regular expression
	RuleUnique    Rule = "unique"    // two equal items in a list of different ones
	RuleUnion     Rule = "union"     // fits none of several schemas, or more than one of an exclusive set
	RuleUnknown   Rule = "unknown"   // a member that the schema does not have
	RuleRefused   Rule = "refused"   // the document marks it as refused
	RuleIgnored   Rule = "ignored"   // without effect, and the client asked to be told
)

// Violation is the one thing to tell a client whose request breaks a
// document. Of values that the client sent it repeats no more than the start
// of one that should be another from a list.
type Violation struct {
	Pointer []string // names and indexes from the body to the value; empty: the body itself
	Rule    Rule
	Reason  string // a predicate without its subject and full stop: "must be at most 2"
	Mark    Mark   // of the refused field, or of the partial one whose limit is broken; else zero
}

// Param is the place with indexes in brackets: messages[0].content.
func (v *Violation) Param() string {
	var b strings.Builder
	for i, token := range v.place() {
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

// Path is the place with dots alone: messages.0.content.
func (v *Violation) Path() string { return strings.Join(v.place(), ".") }

// No document nests deeper or has longer names than this; a client's own
// JSON may, and an error need not repeat it.
const (
	maxTokens = 32
	maxToken  = 64 // bytes
)

// place is the pointer, shortened to be read.
func (v *Violation) place() []string {
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

// note adds the sentence of a mark.
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

// isIndex is a guess by spelling; a member named 0 reads like an index too.
func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 32)
	return err == nil
}

// atFirst reports whether the first item of an array at the given depth is of
// a wrong type: then this was not the kind of array that a client meant.
func (v *Violation) atFirst(depth int) bool {
	return v.Rule == RuleType && len(v.Pointer) == depth+1 && v.Pointer[depth] == "0"
}

// better reports whether v tells a client more than w: the deeper place wins,
// and on a tie any rule but type, since "must be a string" says little where
// another branch knows that the list is too long.
func (v *Violation) better(w *Violation) bool {
	if w == nil {
		return true
	}
	if len(v.Pointer) != len(w.Pointer) {
		return len(v.Pointer) > len(w.Pointer)
	}
	return w.Rule == RuleType && v.Rule != RuleType
}
