package upstream

import (
	"bytes"
	"encoding/json"
	"iter"
)

// fault is what tells an error in the place of a chunk or of a reply. A server
// that has begun with status 200 has no other place for it.
type fault struct {
	Error  json.RawMessage `json:"error"`
	Errors json.RawMessage `json:"errors"`
	Object json.RawMessage `json:"object"`
	Type   json.RawMessage `json:"type"`

	// These tell one where there is nothing that a reply holds.
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Title   json.RawMessage `json:"title"`

	BaseResp struct {
		Code json.RawMessage `json:"status_code"`
	} `json:"base_resp"`
	Groq struct {
		Error json.RawMessage `json:"error"`
	} `json:"x_groq"`
}

// tells reports whether the value tells an error. content says that it has what
// a reply holds.
func (f fault) tells(content bool) bool {
	code := f.BaseResp.Code
	switch {
	case present(f.Error) || present(f.Errors) || present(f.Groq.Error) || present(code) && string(code) != "0":
		return true
	case string(f.Object) == `"error"` || string(f.Type) == `"error"`:
		return true
	}
	text := present(f.Message) && f.Message[0] == '"' || present(f.Title) && f.Title[0] == '"'
	return !content && (text || present(f.Detail))
}

// tellsError reports whether a JSON value, or what should be one, tells an
// error instead of what was asked for: an object that says so, a list of them,
// or a text. Lists in lists tell none: each level would be read once more.
func tellsError(value []byte) bool {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return false
	}
	switch value[0] {
	case '{':
		var f faultOrContents
		return firstValue(value, &f) == nil && f.tells(f.contents != contents{})
	case '[':
		inner := first(value)
		return len(inner) > 0 && inner[0] != '[' && tellsError(inner)
	case '"':
		return present(value)
	}
	return !json.Valid(value)
}

type faultOrContents struct {
	fault
	contents
}

// contents says which members there are of what was asked for, in all
// operations.
type contents struct {
	Choices     named `json:"choices"`
	Usage       named `json:"usage"`
	Progress    named `json:"prompt_progress"`
	Data        named `json:"data"`
	Prompt      named `json:"prompt"`
	Count       named `json:"count"`
	Tokens      named `json:"tokens"`
	InputTokens named `json:"input_tokens"`
}

// named is a member of which nothing counts but that it is there.
type named bool

// UnmarshalJSON implements [json.Unmarshaler].
func (n *named) UnmarshalJSON([]byte) error {
	*n = true
	return nil
}

// firstValue reads the JSON value that text begins with, behind which
// something may follow.
func firstValue(text []byte, value any) error {
	return json.NewDecoder(bytes.NewReader(text)).Decode(value)
}

// values are the JSON values of a frame, which is one; some servers leave out
// the blank lines between theirs.
func (f frame) values() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !bytes.Contains(f.data, []byte("\n")) || json.Valid(f.data) {
			yield(f.data)
			return
		}
		for line := range bytes.Lines(f.data) {
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != ':' && !yield(line) {
				return
			}
		}
	}
}

// tellsError reports whether the frame begins with an error. A text that is no
// JSON is one, but for what servers send under names of their own.
func (f frame) tellsError() bool {
	if f.failed {
		return true
	}
	for value := range f.values() {
		return !bytes.Equal(value, doneMark) && !f.noise(value) && tellsError(value)
	}
	return false
}

// noise reports whether a value means nothing: null, and a text under a name of
// the server's own, such as the time under the name ping.
func (f frame) noise(value []byte) bool {
	return string(value) == "null" || f.named && !json.Valid(value)
}
