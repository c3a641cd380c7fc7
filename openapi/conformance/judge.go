package conformance

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// aspect is one side of a reply that the document rules. Each operation has a scenario for
// each aspect.
type aspect struct {
	name  string
	about string
	ours  bool // the vendors' documents leave it open, so that it binds diglot alone
}

// The aspects, in the order in which they are reported.
var (
	aspectStatus   = aspect{"reply-status", "Each status is one that the document lists.", false}
	aspectType     = aspect{"reply-content-type", "Each reply has a media type that the document lists for its status.", false}
	aspectHeaders  = aspect{"reply-headers", "Headers of replies are present and valid as declared.", true}
	aspectJSON     = aspect{"reply-json", "Replies are JSON in which no field comes twice.", false}
	aspectRequired = aspect{"reply-required-fields", "Replies have every field that the document requires.", false}
	aspectTypes    = aspect{"reply-field-types", "Fields of replies have the types that the document declares.", false}
	aspectValues   = aspect{"reply-values", "Values of replies are in the lists and ranges of the document.", false}
	aspectUnknown  = aspect{"reply-undocumented-fields", "Replies have no field that the document lacks.", true}
	aspectSpelling = aspect{"reply-plain-characters", "Replies write <, > and & as they are, without escapes for HTML.", true}
	aspectErrors   = aspect{"error-kinds", "Each error has a type and code that the document lists for its status.", true}
	aspectFrames   = aspect{"stream-frames", "Streams are server-sent events, each of which ends with a blank line.", false}
	aspectEvents   = aspect{"stream-events", "Each event of a stream is one that the document lists.", false}
	aspectOrder    = aspect{"stream-order", "The events of a stream come in the order of the document.", false}
)

func aspects(o *openapi.Operation) []aspect {
	all := []aspect{
		aspectStatus, aspectType, aspectHeaders, aspectJSON, aspectRequired, aspectTypes, aspectValues, aspectUnknown,
		aspectSpelling, aspectErrors,
	}
	if slices.ContainsFunc(o.Replies, func(r openapi.Reply) bool { return r.Stream != nil }) {
		all = append(all, aspectFrames, aspectEvents, aspectOrder)
	}
	return all
}

// finding is a deviation of one reply from the document.
type finding struct {
	aspect   aspect
	message  string
	document string
	key      string // equal for the same deviation in other replies
	ours     bool   // a rule that binds diglot alone
}

// judge holds a reply against the document of its operation, until ctx ends.
func judge(ctx context.Context, o *openapi.Operation, x *Exchange) []finding {
	mediaType := x.MediaType()
	reply, err := o.Reply(x.Status, x.Header.Get("Content-Type"))
	if err != nil {
		if slices.ContainsFunc(o.Replies, func(r openapi.Reply) bool { return r.Status == x.Status }) {
			return []finding{{aspectType, fmt.Sprintf("%d comes as %q", x.Status, mediaType), err.Error(), mediaType, false}}
		}
		return []finding{{aspectStatus, fmt.Sprintf("status %d", x.Status), err.Error(), strconv.Itoa(x.Status), false}}
	}
	all := judgeHeaders(reply, x)
	if found := htmlEscape(x.Body); found != nil {
		all = append(all, finding{aspectSpelling, fmt.Sprintf("the reply spells a character as %s", found), "", "", true})
	}
	if reply.Stream != nil {
		return append(all, judgeStream(ctx, o, reply.Stream, x)...)
	}
	found, _ := judgeJSON(ctx, x.Body, func(body []byte) error {
		return o.CheckReply(x.Status, x.Header.Get("Content-Type"), body)
	})
	all = append(all, found...)
	if x.Status >= 400 {
		all = append(all, judgeError(o, x.Status, x.Body)...)
	}
	return all
}

// htmlEscape is the first escape of <, > or & in a JSON text; not an escaped backslash before
// letters.
func htmlEscape(text []byte) []byte {
	const start, size = `\u00`, len(`\u003c`)
	for at := 0; ; at += len(start) {
		next := bytes.Index(text[at:], []byte(start))
		if at += next; next < 0 || at+size > len(text) {
			return nil
		}
		before := len(text[:at]) - len(bytes.TrimRight(text[:at], `\`))
		switch strings.ToLower(string(text[at+len(start) : at+size])) {
		case "3c", "3e", "26":
			if before%2 == 0 {
				return text[at : at+size]
			}
		}
	}
}

func judgeHeaders(reply *openapi.Reply, x *Exchange) []finding {
	others := func(string) bool { return true }
	if err := reply.CheckHeaders(x.Header, others); err != nil {
		return []finding{{aspectHeaders, err.Error(), "", err.Error(), true}}
	}
	return nil
}

// judgeJSON collects the violations of a JSON text. Undocumented fields are taken out until
// none is left, so that they do not hide what else is wrong; rest is what is left.
func judgeJSON(ctx context.Context, text []byte, check func([]byte) error) (all []finding, rest []byte) {
	for range maxFindings {
		if ctx.Err() != nil {
			break
		}
		err := check(bytes.Clone(text)) // a check may replace lone surrogates
		if err == nil {
			break
		}
		var v *openapi.Violation
		if !errors.As(err, &v) {
			return append(all, finding{aspectJSON, err.Error(), "", "", false}), text
		}
		all = append(all, finding{aspectOf(v.Rule), v.Error(), "", string(v.Rule) + " " + withoutIndexes(v.Param()), isErrorKind(v) || isBound(v)})
		if v.Rule != openapi.RuleUnknown && v.Rule != openapi.RuleRefused {
			break
		}
		shorter, err := without(text, v.Pointer)
		if err != nil {
			break
		}
		text = shorter
	}
	return all, text
}

func aspectOf(r openapi.Rule) aspect {
	switch r {
	case openapi.RuleSyntax, openapi.RuleDuplicate, openapi.RuleDepth:
		return aspectJSON
	case openapi.RuleRequired:
		return aspectRequired
	case openapi.RuleType:
		return aspectTypes
	case openapi.RuleUnknown, openapi.RuleRefused:
		return aspectUnknown
	}
	return aspectValues
}

// isErrorKind reports whether an error has a type or code that diglot never sends. The vendors
// have more of them.
func isErrorKind(v *openapi.Violation) bool {
	path := v.Param()
	return v.Rule == openapi.RuleEnum && (path == "error.type" || path == "error.code")
}

// isBound reports whether a number or a size is beyond what diglot sends: cached tokens are
// always 0 here, and elsewhere are not.
func isBound(v *openapi.Violation) bool {
	return v.Rule == openapi.RuleRange || v.Rule == openapi.RuleLength
}

// CheckEnvelope checks the body of an error against the envelope that the operation's document
// has for a status. Without Marks, it may have kinds and fields of its own.
func (t *Trial) CheckEnvelope(o *openapi.Operation, status int, x *Exchange) error {
	found, _ := judgeJSON(t.ctx, x.Body, func(body []byte) error { return o.CheckReply(status, "application/json", body) })
	for _, f := range found {
		if t.Marks || !f.ours && !f.aspect.ours {
			return errors.New(f.message)
		}
	}
	return nil
}

var index = regexp.MustCompile(`\[\d+\]`)

func withoutIndexes(path string) string { return index.ReplaceAllString(path, "[]") }

// without removes the value at a pointer from a JSON text.
func without(text []byte, pointer []string) ([]byte, error) {
	var root any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	if len(pointer) == 0 {
		return nil, errors.New("nothing would be left")
	}
	at := root
	for _, token := range pointer[:len(pointer)-1] {
		switch value := at.(type) {
		case map[string]any:
			at = value[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(value) {
				return nil, fmt.Errorf("no item %s", token)
			}
			at = value[i]
		}
	}
	object, ok := at.(map[string]any)
	name := pointer[len(pointer)-1]
	if _, there := object[name]; !ok || !there {
		return nil, fmt.Errorf("no field %s", name)
	}
	delete(object, name)
	return json.Marshal(root, json.Deterministic(true))
}

// judgeError holds the type and code of an error against those that the operation lists.
// In a stream its status is not known: 0.
func judgeError(o *openapi.Operation, status int, body []byte) []finding {
	var reply struct {
		Error struct {
			Type string         `json:"type"`
			Code jsontext.Value `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &reply) != nil || reply.Error.Type == "" {
		return nil // an invalid error does not fit its schema
	}
	code := strings.Trim(string(reply.Error.Code), `"`)
	if code == "null" {
		code = ""
	}
	for _, e := range o.Errors() {
		if (status == 0 || e.Status == status) && e.Type == reply.Error.Type && e.Code == code {
			return nil
		}
	}
	message := fmt.Sprintf("an error of status %d has type %q and code %q", status, reply.Error.Type, code)
	return []finding{{aspectErrors, message, "it lists no such error for " + o.ID, message, true}}
}
