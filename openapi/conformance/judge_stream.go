package conformance

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// A server may send what it likes, and as much.
const (
	maxFrames   = 10_000 // of a stream that are judged
	maxFindings = 100    // of a reply
)

// findings are different ones of one reply.
type findings struct {
	list []finding
	seen map[deviationKey]bool
}

func (all *findings) add(some ...finding) {
	for _, f := range some {
		key := deviationKey{f.aspect.name, f.key}
		if len(all.list) < maxFindings && !all.seen[key] {
			all.seen[key] = true
			all.list = append(all.list, f)
		}
	}
}

func judgeStream(ctx context.Context, o *openapi.Operation, stream *openapi.Stream, x *Exchange) []finding {
	all := findings{seen: map[deviationKey]bool{}}
	frames, whole := x.Frames()
	if !whole || x.Err != nil || !endsBlank(x.Body) {
		all.add(finding{aspectFrames, "the last event of the stream has no blank line", "", "end", false})
	}
	checker, known := stream.NewChecker(), true
	for i, f := range frames {
		if i == maxFrames || len(all.list) == maxFindings || ctx.Err() != nil {
			return all.list // its order is not known
		}
		if f.Data != "[DONE]" && !jsontext.Value(f.Data).IsValid() {
			all.add(finding{aspectFrames, fmt.Sprintf("data of event %d is not JSON: %s", i, shown([]byte(f.Data))), "", "data", false})
		}
		listed := true
		found, data := judgeJSON(ctx, []byte(f.Data), func(data []byte) error {
			err := stream.NewChecker().Frame(f.Event, string(data))
			listed = listed && !isOther(err)
			return inData(err)
		})
		if !listed {
			found = nil // its fields are those of no event
		}
		if err := checker.Frame(f.Event, string(data)); err != nil {
			known = false
			if kind := unnamed(stream, f); kind != "" {
				found = []finding{{aspectEvents, fmt.Sprintf("event %d, %s, has no line event: %s", i, kind, kind), "", "", false}}
			} else if len(found) == 0 {
				all.add(finding{aspectEvents, err.Error(), "", f.Event, false})
			}
		}
		all.add(found...)
		all.add(judgeError(o, 0, data)...)
	}
	if err := checker.End(); err != nil && known { // else an unknown event breaks the order too
		all.add(finding{aspectOrder, err.Error(), "x-event-sequence: " + stream.Sequence, "", false})
	}
	return all.list
}

// unnamed is the type of an event that has no name, and would be right with its type as one.
func unnamed(stream *openapi.Stream, f Frame) string {
	var event struct {
		Type string `json:"type"`
	}
	if f.Event != "" || json.Unmarshal([]byte(f.Data), &event) != nil || stream.NewChecker().Frame(event.Type, f.Data) != nil {
		return ""
	}
	return event.Type
}

// isOther reports whether a frame is no event of the document at all.
func isOther(err error) bool {
	var v *openapi.Violation
	if !errors.As(err, &v) {
		return false
	}
	at := strings.Join(v.Pointer, "/")
	return at == "event" || at == "data/type" && v.Rule == openapi.RuleEnum || v.Rule == openapi.RuleSyntax
}

func endsBlank(body []byte) bool {
	return bytes.HasSuffix(body, []byte("\n\n")) || bytes.HasSuffix(body, []byte("\r\n\r\n"))
}

// inData makes the pointer of a violation one from the data of an event, not from the event.
func inData(err error) error {
	var v *openapi.Violation
	if !errors.As(err, &v) || len(v.Pointer) == 0 || v.Pointer[0] != "data" {
		return err
	}
	inner := *v
	inner.Pointer = v.Pointer[1:]
	return &inner
}
