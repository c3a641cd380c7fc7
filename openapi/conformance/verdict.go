package conformance

import (
	"encoding/json/v2"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// verdict is what the reply to a case says of the server.
type verdict string

const (
	verdictHeld   verdict = "held"   // the case binds the server, which kept to it or failed
	verdictFree   verdict = "free"   // the case binds diglot alone
	verdictHidden verdict = "hidden" // the server refuses the request without the odd value too
)

// runCases runs the cases of a field, which is tested if one of them can be.
func (t *Trial) runCases(o *openapi.Operation, list []Case) {
	seen := map[verdict]bool{}
	for _, c := range list {
		seen[t.runCase(o, c)] = true
	}
	switch {
	case seen[verdictHeld]:
	case seen[verdictHidden]:
		t.wantPlain(o)
		t.Skipf("the server refuses the request without an odd value too")
	default:
		t.Skipf("the field binds diglot alone; --marks holds a server to it")
	}
}

// wantPlain fails where the server refuses the plainest request too: then that is what is
// wrong, and a run must not pass because nothing can be tested.
func (t *Trial) wantPlain(o *openapi.Operation) {
	plain := examplesOf(o.ID)
	if len(plain) == 0 || t.baseline(o, plain[0]) == answered {
		return
	}
	if x := t.Do(Request{Path: o.Path, Body: t.affordable(o, t.named(o, plain[0]), nil, fieldTokens)}); x.Status != http.StatusOK {
		t.Fatalf(x, "a plain request is answered with status %d, want 200", x.Status)
	}
}

func (t *Trial) runCase(o *openapi.Operation, c Case) verdict {
	body := c.Body
	if len(c.Pointer) == 0 || c.Pointer[0] != "model" {
		body = t.named(o, body)
	}
	body = t.affordable(o, body, c.Pointer, fieldTokens)
	if c.Want == WantNothing && unlimited(body) {
		return verdictFree // it would be answered until the context is full
	}
	x := t.Do(Request{Path: o.Path, Body: body})
	switch {
	case x.Status != http.StatusOK && t.hides(o, c, x):
		return verdictHidden
	case x.Status >= 500:
		t.wrong(c, x, "status %d", x.Status)
		return verdictHeld
	case c.Want == WantInvalid:
		t.wantInvalid(c, x)
	default:
		t.wantAccepted(c, x)
	}
	if !c.must(t.Marks) {
		return verdictFree
	}
	return verdictHeld
}

func (t *Trial) wantInvalid(c Case, x *Exchange) {
	switch x.Status {
	case http.StatusBadRequest:
		if !names(x.Body, c.Pointer) {
			t.wrong(c, x, "the error does not name %s", path(c.Pointer))
		}
	case http.StatusOK:
		if c.must(t.Marks) {
			t.wrong(c, x, "status %d, want 400", x.Status)
		}
	default:
		t.wrong(c, x, "status %d, want 400", x.Status)
	}
}

func (t *Trial) wantAccepted(c Case, x *Exchange) {
	switch {
	case x.Status != http.StatusOK:
		if c.must(t.Marks) {
			t.wrong(c, x, "status %d, want 200", x.Status)
		}
	case c.Want == WantIgnored && t.Marks:
		if got := x.Header.Get("Diglot-Ignored"); !strings.Contains(", "+got+",", ", "+c.Ignored+",") {
			t.wrong(c, x, "Diglot-Ignored is %q, want %q in it", got, c.Ignored)
		}
	}
}

// wrong reports a failure of a case.
func (t *Trial) wrong(c Case, x *Exchange, format string, args ...any) {
	t.fail(Failure{
		Message:  c.Name + ": " + fmt.Sprintf(format, args...),
		Document: fmt.Sprintf("%s: %s", c.Name, c.wanted(t.Marks)), Exchange: x,
	})
}

// hides reports whether a refusal says nothing of the odd value, as the server refuses the
// body without it too: what needs a thing that the model lacks, say. It does say something
// if it names the value, and its words are others than without it.
func (t *Trial) hides(o *openapi.Operation, c Case, x *Exchange) bool {
	without := t.baseline(o, c.Base)
	if without == answered {
		return false
	}
	return c.Want != WantInvalid || x.Status != http.StatusBadRequest || !names(x.Body, c.Pointer) || without == words(x)
}

const answered = ""

// baseline is how the server refuses a body without an odd value, or answered. Many cases
// have the same such body, which is sent once.
func (t *Trial) baseline(o *openapi.Operation, body []byte) string {
	if body == nil {
		return answered
	}
	body = t.affordable(o, t.named(o, body), nil, fieldTokens)
	key := o.Path + " " + string(body)
	if known, ok := t.baselines.Load(key); ok {
		return known.(string)
	}
	how := answered
	if x := t.Do(Request{Path: o.Path, Body: body}); x.Status != http.StatusOK {
		how = words(x)
	}
	t.baselines.Store(key, how)
	return how
}

// words are those of a refusal.
func words(x *Exchange) string { return fmt.Sprint(x.Status, " ", complaint(x.Body)) }

// must reports whether the case binds a server, given whether the support marks are its own.
// How large a list or a text may be is each server's own; that one must not be empty is not.
func (c Case) must(marks bool) bool {
	switch {
	case marks:
		return true
	case c.Extension:
		return false
	case c.Rule == openapi.RuleLength:
		return strings.HasSuffix(c.Name, tooFew)
	case c.Want == WantInvalid:
		return c.Rule != openapi.RuleRefused && c.Rule != openapi.RuleUnknown && !strings.Contains(c.Name, overLimit)
	}
	return c.Want == WantNothing && c.Nullable
}

func (c Case) wanted(marks bool) string {
	switch {
	case c.Want == WantInvalid && c.must(marks):
		return "400, and the error names " + path(c.Pointer)
	case c.Want == WantInvalid:
		return "200, or 400 and the error names " + path(c.Pointer)
	case c.Want == WantIgnored && marks:
		return "200, and Diglot-Ignored names " + c.Ignored
	}
	return "200"
}

func path(pointer []string) string {
	if len(pointer) == 0 {
		return "the body"
	}
	v := openapi.Violation{Pointer: pointer}
	return v.Param()
}

// names reports whether an error names the value at a pointer, in its param or its message:
// by its path, or at least by the last name in that path.
func names(body []byte, pointer []string) bool {
	if len(pointer) == 0 {
		return true
	}
	v := openapi.Violation{Pointer: pointer}
	words := []string{v.Param(), v.Path()}
	for _, token := range slices.Backward(pointer) {
		if strings.Trim(token, "0123456789") != "" {
			words = append(words, token)
			break
		}
	}
	for _, text := range complaint(body) {
		if slices.ContainsFunc(words, func(word string) bool { return hasWord(text, word) }) {
			return true
		}
	}
	return false
}

// complaint is the param and the message of an error; of one without an envelope, its text.
func complaint(body []byte) []string {
	var reply struct {
		Error any `json:"error"`
	}
	if json.Unmarshal(body, &reply) != nil {
		return nil
	}
	switch e := reply.Error.(type) {
	case string:
		return []string{e}
	case map[string]any:
		param, _ := e["param"].(string)
		message, _ := e["message"].(string)
		return []string{param, message}
	}
	return nil
}

// hasWord reports whether a text has a word, and not only as part of a longer one.
func hasWord(text, word string) bool {
	for at := 0; word != ""; at++ {
		next := strings.Index(text[at:], word)
		if next < 0 {
			return false
		}
		at += next
		end := at + len(word)
		if (at == 0 || !isWord(text[at-1])) && (end == len(text) || !isWord(text[end])) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
