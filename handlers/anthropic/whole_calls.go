package anthropic

import (
	"encoding/json/jsontext"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/diglot/diglot/engine"
)

// wholeCalls passes events on. A model that says it has called a tool, and whose
// input is no JSON object, has failed: this style has no text for the input
// that would show it, and half an input is not what a tool may run with.
// A call that was cut by the limit of tokens is told as cut, where it is the
// beginning of an object: clients make one of the members that are whole.
func wholeCalls(events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		var input *strings.Builder // of the open call
		var broken, lost bool      // an input is no object; it is not the beginning of one either
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
					yield(nil, engine.Errorf(engine.CodeEngineCrashed, "The model has called a tool with an input that is no JSON object."))
					return
				}
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// isInput reports whether a tool can run with what the model wrote; nothing is an
// empty object.
func isInput(arguments string) bool {
	text := jsontext.Value(arguments)
	return strings.TrimSpace(arguments) == "" || text.Kind() == '{' && text.IsValid(jsontext.AllowDuplicateNames(true))
}

// beginsInput reports whether more text could make an input of what came.
func beginsInput(arguments string) bool {
	if isInput(arguments) {
		return true
	}
	in := jsontext.NewDecoder(strings.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return in.PeekKind() == '{' && errors.Is(in.SkipValue(), io.ErrUnexpectedEOF)
}
