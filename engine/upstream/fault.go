package upstream

import (
	"bytes"
	"encoding/json"
	"iter"
)

// fault has the fields that mark an error in place of a chunk or a reply, which
// is all that a server can send after status 200.
type fault struct {
	Error  json.RawMessage `json:"error"`
	Errors json.RawMessage `json:"errors"`
	Object json.RawMessage `json:"object"`
	Type   json.RawMessage `json:"type"`

	// These mark an error only if there is no field of a reply.
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

// isError reports whether the value is an error. content: it has fields of a reply.
func (f fault) isError(content bool) bool {
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

// isErrorValue reports whether a value is an error: an object marked as one, an
// array of such, a string, or invalid JSON. Nested arrays are not, because each
// level would be decoded again.
func isErrorValue(value []byte) bool {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return false
	}
	switch value[0] {
	case '{':
		var f faultOrContents
		return firstValue(value, &f) == nil && f.isError(f.contents != contents{})
	case '[':
		inner := firstElement(value)
		return len(inner) > 0 && inner[0] != '[' && isErrorValue(inner)
	case '"':
		return present(value)
	}
	return !json.Valid(value)
}

type faultOrContents struct {
	fault
	contents
}

// contents tells which fields of a reply are present, for all operations.
type contents struct {
	Choices     presence `json:"choices"`
	Usage       presence `json:"usage"`
	Progress    presence `json:"prompt_progress"`
	Data        presence `json:"data"`
	Prompt      presence `json:"prompt"`
	Count       presence `json:"count"`
	Tokens      presence `json:"tokens"`
	InputTokens presence `json:"input_tokens"`
}

// presence records that a field is present.
type presence bool

// UnmarshalJSON implements [json.Unmarshaler].
func (n *presence) UnmarshalJSON([]byte) error {
	*n = true
	return nil
}

// firstValue decodes the first JSON value of text and ignores the rest.
func firstValue(text []byte, value any) error {
	return json.NewDecoder(bytes.NewReader(text)).Decode(value)
}

// values yields the JSON values of a frame: one, or one per line from servers
// that omit the blank lines between frames.
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

// isError reports whether the frame begins with an error. Text that is not
// JSON is one, unless the event has a name of the server's own.
func (f frame) isError() bool {
	if f.failed {
		return true
	}
	for value := range f.values() {
		return !bytes.Equal(value, doneMark) && !f.noise(value) && isErrorValue(value)
	}
	return false
}

// noise reports whether a value has no meaning: null, or text in an event with a
// name of the server's own, such as the time in a ping.
func (f frame) noise(value []byte) bool {
	return string(value) == "null" || f.named && !json.Valid(value)
}
