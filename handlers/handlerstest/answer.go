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

// Answer is what a client has in the end, however it came: read from a whole
// reply or folded from a stream.
type Answer struct {
	Blocks []AnswerBlock // in the order of the style; a style without an order has thinking, text, calls
	Finish string        // in the words of the style
	Stop   string        // the stop string that ended it, where the style tells
}

// AnswerBlock is a text, a line of thought or a call.
type AnswerBlock struct {
	Kind     engine.BlockKind
	Text     string // or the arguments of a call, as JSON text
	ID, Name string // of a call
}

// Text is all text of the answer.
func (a Answer) Text() string { return a.join(engine.BlockText) }

// Reasoning is all thinking of the answer.
func (a Answer) Reasoning() string { return a.join(engine.BlockReasoning) }

func (a Answer) join(kind engine.BlockKind) (all string) {
	for _, b := range a.Blocks {
		if b.Kind == kind {
			all += b.Text
		}
	}
	return all
}

// Calls are the calls of the answer, in order.
func (a Answer) Calls() (calls []AnswerBlock) {
	for _, b := range a.Blocks {
		if b.Kind == engine.BlockToolCall {
			calls = append(calls, b)
		}
	}
	return calls
}

// Ask is a question to any operation that generates.
type Ask struct {
	Text    string
	Stop    []string // only where [Generation.Stops]
	Choices int      // how many answers, where [Generation.Choices]
	Stream  bool
	More    map[string]any // members of the body that not all operations have
}

// body adds what is asked beside the text to the members of an operation.
func (a Ask) body(members map[string]any) []byte {
	members["model"], members["stream"] = "m", a.Stream
	maps.Copy(members, a.More)
	return encode(members)
}

// Generation is an operation that generates an answer, and how its clients
// read that. A property of all answers is tested over [Generations].
type Generation struct {
	Name, Path string
	Stops      bool   // it has stop strings
	NamesStop  bool   // and the reply says which one it was
	Choices    bool   // a reply may hold several answers
	Structure  bool   // it has blocks other than text
	Limit      string // name of the most tokens to generate
	Body       func(Ask) []byte
	Whole      func(body []byte) ([]Answer, error)
	Fold       func(stream []byte) ([]Answer, error)
}

// Generations are all of them.
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
		panic(err) // of strings, numbers and lists: impossible
	}
	return b
}

// eachFrame reads the frames of a stream that have data.
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

// CanonicalJSON writes JSON text in one way, whatever its white space and
// escapes are; text that is no JSON stays.
func CanonicalJSON(text string) string {
	v := jsontext.Value(text)
	if v.Format(jsontext.AllowDuplicateNames(true)) != nil {
		return text
	}
	return string(v)
}

// grow makes room for index i, which must be the next one at most.
func grow[T any](list []T, i int) ([]T, error) {
	if i < 0 || i > len(list) {
		return list, fmt.Errorf("index %d, and there are %d so far", i, len(list))
	}
	if i == len(list) {
		list = append(list, *new(T))
	}
	return list, nil
}
