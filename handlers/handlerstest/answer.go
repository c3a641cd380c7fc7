package handlerstest

import (
	"bytes"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// Answer is what a client has in the end, from a whole reply or folded from a stream.
type Answer struct {
	Blocks []AnswerBlock // in the order of the style; else thinking, text, calls
	Finish string        // the style's finish reason
	Stop   string        // the stop string that ended it, if the style reports it
}

// AnswerBlock is text, reasoning or a call.
type AnswerBlock struct {
	Kind     engine.BlockKind
	Text     string // or the arguments of a call, as JSON text
	ID, Name string // of a call
}

// Text returns the text of the answer.
func (a Answer) Text() string { return a.join(engine.BlockText) }

// Reasoning returns the reasoning of the answer.
func (a Answer) Reasoning() string { return a.join(engine.BlockReasoning) }

func (a Answer) join(kind engine.BlockKind) (all string) {
	for _, b := range a.Blocks {
		if b.Kind == kind {
			all += b.Text
		}
	}
	return all
}

// Calls returns the calls of the answer, in order.
func (a Answer) Calls() (calls []AnswerBlock) {
	for _, b := range a.Blocks {
		if b.Kind == engine.BlockToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// Ask is a request to any generating operation.
type Ask struct {
	Text    string
	Stop    []string // only if [Generation.Stops]
	Choices int      // only if [Generation.Choices]
	Stream  bool
	More    map[string]any // further fields that not all operations have
}

// body adds the remaining fields to those of an operation.
func (a Ask) body(members map[string]any) []byte {
	members["model"], members["stream"] = "m", a.Stream
	maps.Copy(members, a.More)
	return encode(members)
}

// Generation is a generating operation and how clients read its replies. A property of all
// answers is tested over [Generations].
type Generation struct {
	Name, Path string
	Stops      bool   // has stop strings
	NamesStop  bool   // the reply names the stop string
	Choices    bool   // may reply with several answers
	Structure  bool   // has blocks other than text
	Limit      string // name of the token limit
	Body       func(Ask) []byte
	Whole      func(body []byte) ([]Answer, error)
	Fold       func(stream []byte) ([]Answer, error)
}

// Generations returns all of them.
func Generations() []Generation {
	return []Generation{
		{
			Name: "chat", Path: "/v1/chat/completions", Limit: "max_completion_tokens",
			Stops: true, Choices: true, Structure: true,
			Body: chatAsk, Whole: wholeChat, Fold: foldChat,
		},
		{
			Name: "completions", Path: "/v1/completions", Limit: "max_tokens",
			Stops: true, Choices: true,
			Body: completionAsk, Whole: wholeCompletion, Fold: foldCompletion,
		},
		{
			Name: "responses", Path: "/v1/responses", Limit: "max_output_tokens",
			Structure: true,
			Body:      responseAsk, Whole: wholeResponse, Fold: foldResponse,
		},
		{
			Name: "messages", Path: "/v1/messages", Limit: "max_tokens",
			Stops: true, NamesStop: true, Structure: true,
			Body: messageAsk, Whole: wholeMessage, Fold: foldMessage,
		},
	}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and lists: cannot fail
	}
	return b
}

// eachFrame reads the frames with data.
func eachFrame(stream []byte, do func(event string, data []byte) error) error {
	frames := sse.NewReader(bytes.NewReader(stream))
	for {
		f, err := frames.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && len(f.Data) > 0 {
			err = do(f.Event, f.Data)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", f.Event, f.Data, err)
		}
	}
}

// CanonicalJSON normalizes white space and escapes; text that is not JSON is unchanged.
func CanonicalJSON(text string) string {
	v := jsontext.Value(text)
	if v.Format(jsontext.AllowDuplicateNames(true)) != nil {
		return text
	}
	return string(v)
}

// grow appends if i is the next index.
func grow[T any](list []T, i int) ([]T, error) {
	if i < 0 || i > len(list) {
		return list, fmt.Errorf("index %d, and there are %d so far", i, len(list))
	}
	if i == len(list) {
		list = append(list, *new(T))
	}
	return list, nil
}
