// Package sse writes server-sent events: frames in the event-stream format, and the loop
// that turns engine events into them.
//
// The format is the WHATWG one: https://html.spec.whatwg.org/multipage/server-sent-events.html
package sse

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/diglot/diglot/internal/plainjson"
)

// Frame is one event, or a comment that clients skip.
type Frame struct {
	Event   string // empty: a frame without a name
	Data    []byte // one line
	Comment string // set: the frame is this comment and nothing else
}

// NewFrame returns a frame with data as JSON. Only necessary characters are escaped, and
// those at which some clients split lines.
func NewFrame(event string, data any) Frame {
	b, _ := plainjson.Marshal(data) // the generated types can always be encoded
	return Frame{Event: event, Data: oneLine(b)}
}

// lineEnds are no line ends in the event-stream format, but Python's line readers, such as
// httpx's, split at them and lose the rest of the data.
var lineEnds = []struct{ plain, escaped []byte }{
	{[]byte("\u0085"), []byte(`\u0085`)},
	{[]byte("\u2028"), []byte(`\u2028`)},
	{[]byte("\u2029"), []byte(`\u2029`)},
}

// oneLine escapes line separators in JSON, which only strings can hold.
func oneLine(b []byte) []byte {
	for _, end := range lineEnds {
		if bytes.Contains(b, end.plain) {
			b = bytes.ReplaceAll(b, end.plain, end.escaped)
		}
	}
	return b
}

// Append adds the frame and its blank line to b. Clients drop a frame without its blank
// line, and some lose a partial one at the end of a read, so a frame must go out in one
// write. A comment has no blank line of its own and precedes the next frame: some clients
// take each blank line for the end of an event and cannot parse one without data.
func (f Frame) Append(b []byte) []byte {
	if f.Comment != "" {
		return append(append(append(b, ": "...), f.Comment...), '\n')
	}
	if f.Event != "" {
		b = append(append(append(b, "event: "...), f.Event...), '\n')
	}
	return append(append(append(b, "data: "...), f.Data...), "\n\n"...)
}

// Reader reads frames back, without comments and unknown fields.
type Reader struct{ in *bufio.Reader }

// NewReader reads the frames of r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Next returns the next frame, or io.EOF. A last frame without its blank line is dropped.
func (r *Reader) Next() (Frame, error) {
	var f Frame
	var data [][]byte
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return Frame{}, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			if data == nil && f.Event == "" {
				continue
			}
			f.Data = bytes.Join(data, []byte("\n"))
			return f, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.Event = value
		case "data":
			data = append(data, []byte(value))
		}
	}
}
