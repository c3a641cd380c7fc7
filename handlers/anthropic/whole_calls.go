package anthropic

import (
	"encoding/json/jsontext"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/diglot/diglot/engine"
)

// wholeCalls passes events on. A finished tool call whose input is not a JSON object is an
// error: this style has no text field that would show the input, and a tool must not run
// with half of it. A call cut by the token limit passes if its input begins an object:
// clients keep the complete fields.
func wholeCalls(events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		var input *strings.Builder // of the open call
		var broken, lost bool      // input is not an object; it does not even begin one
		for event, err := range events {
			switch v := event.(type) {
			case engine.BlockStart:
				if input = nil; v.Kind == engine.BlockToolCall {
					input = new(strings.Builder)
				}
			case engine.ToolCallDelta:
				if input != nil {
					input.WriteString(v.Arguments)
				}
			case engine.BlockStop:
				if input != nil {
					broken = broken || !isInput(input.String())
					lost = lost || !beginsInput(input.String())
				}
				input = nil
			case engine.Finish:
				if lost || broken && v.Reason == engine.FinishToolCalls {
					yield(nil, engine.Errorf(engine.CodeEngineCrashed, "The model has called a tool with an input that is not a JSON object."))
					return
				}
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// isInput reports whether a tool can run with the model's text; an empty text is an empty
// object.
func isInput(arguments string) bool {
	text := jsontext.Value(arguments)
	return strings.TrimSpace(arguments) == "" || text.Kind() == '{' && text.IsValid(jsontext.AllowDuplicateNames(true))
}

// beginsInput reports whether more text could complete the input.
func beginsInput(arguments string) bool {
	if isInput(arguments) {
		return true
	}
	in := jsontext.NewDecoder(strings.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return in.PeekKind() == '{' && errors.Is(in.SkipValue(), io.ErrUnexpectedEOF)
}
